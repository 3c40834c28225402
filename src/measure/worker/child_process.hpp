// SPDX-License-Identifier: Apache-2.0
// A child process, in which drivers may crash or hang, and the lines of text exchanged with it.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe {

/// Error for a child that exited, hung or was cancelled. `what()` states the reason and the child's
/// last output.
class ChildLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This program, started again with `--worker`. Lines are exchanged over file descriptor 3,
/// separately from what drivers print to stdout and stderr. The destructor kills the child.
class ChildProcess {
 public:
  /// Adds missing settings of glibc and PoCL to the environment of this process, and starts the
  /// child with this environment and `changes`. `vendors` is the folder of drivers to load; if
  /// empty, the environment determines the drivers. Throws ChildLost if the start fails.
  explicit ChildProcess(const std::string& vendors = {},
                        const std::vector<std::pair<std::string, std::string>>& changes = {});
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  [[nodiscard]] int pid() const { return pid_; }

  /// Sends a line and returns the answer. Kills the child and throws ChildLost if the child exits,
  /// `timeout` passes or `cancelled` returns true.
  std::string ask(std::string_view line, std::chrono::milliseconds timeout,
                  const std::function<bool()>& cancelled);
  /// Sends the last requests without reading answers; the child exits after them. Throws ChildLost.
  void tell_last(std::string_view line, std::chrono::milliseconds timeout,
                 const std::function<bool()>& cancelled);
  /// Returns the next line of an answer that has more than one line. Throws ChildLost.
  std::string next_line(std::chrono::milliseconds timeout, const std::function<bool()>& cancelled);

 private:
  /// Time limit for sending a line and receiving the answer.
  struct TimeLimit {
    std::chrono::milliseconds timeout;
    std::chrono::steady_clock::time_point deadline;
    const std::function<bool()>& cancelled;
  };

  [[noreturn]] void lose(const std::string& how);
  /// Waits until the channel is `ready` (POLLIN or POLLOUT) or closed.
  void wait_until(short ready, const TimeLimit& limit);
  void write_line(std::string_view line, const TimeLimit& limit);
  std::string read_line(const TimeLimit& limit);
  [[nodiscard]] std::string end_of_child();
  /// Reads the child's output on stdout and stderr, and keeps the last 4096 bytes.
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
