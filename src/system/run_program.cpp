// SPDX-License-Identifier: Apache-2.0
#include "system/run_program.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

#include "system/interrupt.hpp"

namespace clprobe::system {
namespace {

using Clock = std::chrono::steady_clock;

/// "NAME=VALUE" of this process's variables and the others, which are stronger.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> lines;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::string_view named = line.substr(0, line.find('='));
    const bool is_replaced =
        std::any_of(variables.begin(), variables.end(),
                    [named](const auto& variable) { return variable.first == named; });
    if (!is_replaced) lines.emplace_back(line);
  }
  for (const auto& [name, value] : variables) {
    lines.push_back(name);
    lines.back().append("=").append(value);
  }
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t start_program(std::vector<std::string> words, std::vector<std::string> variables) {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  // What we ignore stays so in a new program, which would not expect it.
  sigset_t defaults{};
  ::sigemptyset(&defaults);
  for (const int each : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, each);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, words.front().c_str(), &actions, &attributes,
                                   pointers_to(words).data(), pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category());
  return child;
}

/// Asks a program to end that was interrupted and goes on.
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

/// Until it has ended, or for a moment.
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
  const pid_t child = start_program(words, environment_with(variables));
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
