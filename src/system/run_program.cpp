// SPDX-License-Identifier: Apache-2.0
#include "system/api/processes.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace clprobe::system {
namespace {

using Clock = std::chrono::steady_clock;

/// Ends a program that goes on after an interrupt.
class Patience {
 public:
  explicit Patience(pid_t child) : child_(child) {}

  void look() {
    if (!is_interrupted()) return;
    if (!is_waiting_) since_ = Clock::now();
    is_waiting_ = true;
    const auto waited = Clock::now() - since_;
    if (waited > std::chrono::seconds(1) && !has_asked_) {
      has_asked_ = true;
      ::kill(child_, SIGTERM);
    }
    if (waited > std::chrono::seconds(6)) ::kill(child_, SIGKILL);
  }

 private:
  pid_t child_;
  bool is_waiting_{false};
  Clock::time_point since_{};
  bool has_asked_{false};
};

/// Waits until the program ends, for a moment at most.
void wait_a_moment(int descriptor) {
  constexpr int longest_wait_ms = 100;
  if (descriptor < 0) {  // an old kernel
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return;
  }
  pollfd waiting{descriptor, POLLIN, 0};
  ::poll(&waiting, 1, longest_wait_ms);
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& words,
                       const std::vector<std::pair<std::string, std::string>>& variables) {
  const Clock::time_point began = Clock::now();
  Spawn spawn;
  spawn.redirect(STDERR_FILENO, STDOUT_FILENO);
  const pid_t child = spawn.start(words, environment_with(variables));
  // glibc 2.36 declares pidfd_open without extern "C".
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  Patience patience(child);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    patience.look();
    wait_a_moment(descriptor);
  }
  if (descriptor >= 0) ::close(descriptor);
  const std::chrono::duration<double> took = Clock::now() - began;
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status), .seconds = took.count()};
  return {.status = WEXITSTATUS(status), .seconds = took.count()};
}

}  // namespace clprobe::system
