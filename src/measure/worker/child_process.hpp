// SPDX-License-Identifier: Apache-2.0
// A child process that drivers may crash or hang, and the lines of text exchanged with it.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe {

/// Loss of the child: it exited, hung or was given up. `what()` gives the reason and the child's
/// last output.
class ChildLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This program, started again with `--worker`. Lines travel over file descriptor 3, so that the
/// output of drivers on stdout and stderr stays separate. The destructor kills the child.
class ChildProcess {
 public:
  /// Starts the child with this process's environment and `changes`. `vendors` is the folder of
  /// drivers to load (OCL_ICD_VENDORS); empty: as the environment sets it. Throws ChildLost if the
  /// process cannot be started.
  explicit ChildProcess(const std::string& vendors = {},
                        const std::vector<std::pair<std::string, std::string>>& changes = {});
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  [[nodiscard]] int pid() const { return pid_; }

  /// Sends a line and waits for the answer. If the child ends, `timeout` passes or `cancelled`
  /// returns true, kills the child and throws ChildLost.
  std::string ask(std::string_view line, std::chrono::milliseconds timeout,
                  const std::function<bool()>& cancelled);
  /// Sends a last line and does not read an answer; the child ends after it. Throws ChildLost.
  void tell_last(std::string_view line, std::chrono::milliseconds timeout,
                 const std::function<bool()>& cancelled);
  /// Waits for the next line of an answer of several lines. Throws ChildLost.
  std::string next_line(std::chrono::milliseconds timeout, const std::function<bool()>& cancelled);

 private:
  /// Time limit for sending a line and receiving the answer.
  struct TimeLimit {
    std::chrono::milliseconds timeout;
    std::chrono::steady_clock::time_point deadline;
    const std::function<bool()>& cancelled;
  };

  [[noreturn]] void lose(const std::string& how);
  /// Returns when the channel is `ready` (POLLIN, POLLOUT) or was closed.
  void wait_until(short ready, const TimeLimit& limit);
  void write_line(std::string_view line, const TimeLimit& limit);
  std::string read_line(const TimeLimit& limit);
  [[nodiscard]] std::string end_of_child();
  /// Reads the child's output on stdout and stderr, and keeps the last part of it.
  void read_output();
  [[nodiscard]] std::string last_output();

  int pid_{-1};
  int channel_{-1};
  int output_pipe_{-1};  // read end of the pipe for the child's stdout and stderr
  std::string unread_{};
  std::string output_{};
};

inline constexpr int worker_channel = 3;

}  // namespace clprobe
