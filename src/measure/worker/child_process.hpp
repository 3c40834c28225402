// SPDX-License-Identifier: Apache-2.0
// A child process that drivers may crash or hang in, and lines of text to and from it.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe {

/// The child ended, hung or was given up. `what()` says how, and what the child last printed.
class ChildLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This program, started again with `--worker`. Lines travel over file descriptor 3, so that what
/// drivers print on stdout and stderr is kept apart. Killed when this object dies.
class ChildProcess {
 public:
  /// `vendors`: the folder of the drivers that it loads (OCL_ICD_VENDORS); empty: as the
  /// environment says, which is this process's with `changes`. Throws ChildLost when the process
  /// cannot be started.
  explicit ChildProcess(const std::string& vendors = {},
                        const std::vector<std::pair<std::string, std::string>>& changes = {});
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  [[nodiscard]] int pid() const { return pid_; }

  /// Sends a line and waits for the answer. Throws ChildLost when the child ends or `timeout`
  /// passes; then, and when `cancelled` turns true, the child is killed.
  std::string ask(std::string_view line, std::chrono::milliseconds timeout,
                  const std::function<bool()>& cancelled);
  /// Sends a last line, whose answer is not read; the child ends after it. Throws ChildLost.
  void tell_last(std::string_view line, std::chrono::milliseconds timeout,
                 const std::function<bool()>& cancelled);
  /// Waits for one more line of an answer that has several. Throws as ask() does.
  std::string next_line(std::chrono::milliseconds timeout, const std::function<bool()>& cancelled);

 private:
  /// Time limit for sending a line and waiting for the answer.
  struct Patience {
    std::chrono::milliseconds timeout;
    std::chrono::steady_clock::time_point give_up;
    const std::function<bool()>& cancelled;
  };

  [[noreturn]] void lose(const std::string& how);
  /// Returns when the channel is `ready` (POLLIN, POLLOUT) or has hung up.
  void wait_until(short ready, const Patience& patience);
  void write_line(std::string_view line, const Patience& patience);
  std::string read_line(const Patience& patience);
  [[nodiscard]] std::string end_of_child();
  /// Reads what the child's libraries have printed, and keeps the last of it.
  void hear();
  [[nodiscard]] std::string last_words();

  int pid_{-1};
  int channel_{-1};
  int printed_{-1};  // what the child's libraries print
  std::string unread_{};
  std::string words_{};
};

inline constexpr int worker_channel = 3;

}  // namespace clprobe
