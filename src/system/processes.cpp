// SPDX-License-Identifier: Apache-2.0
#include "system/api/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string_view>
#include <system_error>
#include <thread>

#include "system/api/files.hpp"

namespace clprobe::system {
namespace {

// Time of the first request to end in ms; 0: no request. The type is a lock-free atomic because
// signal handlers access the variable.
std::atomic<std::int64_t> first_interrupt_ms{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ms() {
  constexpr std::int64_t ms_per_s = 1000;
  constexpr std::int64_t ns_per_ms = 1'000'000;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::max<std::int64_t>(1, now.tv_sec * ms_per_s + now.tv_nsec / ns_per_ms);
}

extern "C" void on_interrupt(int signal_number) {
  std::int64_t first_ms = 0;
  if (first_interrupt_ms.compare_exchange_strong(first_ms, now_ms())) return;
  // A single request may arrive as two signals: timeout(1) signals both the program and its process
  // group, and when a terminal hangs up, both the shell and the kernel send SIGHUP.
  constexpr std::int64_t same_request_ms = 500;
  if (signal_number == SIGHUP || now_ms() - first_ms < same_request_ms) return;
  // A second request ends the program at once, even if a driver loops forever.
  static_cast<void>(std::signal(signal_number, SIG_DFL));
  static_cast<void>(std::raise(signal_number));
}

}  // namespace

void watch_for_interrupts() {
  constexpr std::array requests{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (const int request : requests) {
    struct sigaction former {};
    ::sigaction(request, nullptr, &former);
    if (former.sa_handler == SIG_IGN) continue;
    struct sigaction watched {};
    watched.sa_handler = on_interrupt;
    // SA_RESTART is not set, so that read() and write() calls that wait return after a signal.
    ::sigaction(request, &watched, nullptr);
  }
}

bool is_interrupted() { return first_interrupt_ms != 0; }

HeldBackSignals::HeldBackSignals() {
  sigset_t all{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &former_);
}

HeldBackSignals::~HeldBackSignals() { ::pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::map<std::string, std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  for (const auto& [name, value] : changes) variables[name] = value;
  std::vector<std::string> lines;
  lines.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    lines.push_back(name);
    lines.back().append("=").append(value);
  }
  return lines;
}

Spawn::Spawn() {
  ::posix_spawn_file_actions_init(&actions_);
  ::posix_spawnattr_init(&attributes_);
  // Without this reset, started programs would inherit that these signals are ignored.
  sigset_t defaults{};
  ::sigemptyset(&defaults);
  for (const int each : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, each);
  ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
  ::posix_spawnattr_setflags(&attributes_, flags_);
}

Spawn::~Spawn() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

void Spawn::redirect(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }

void Spawn::close_stdin() {
  ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
}

void Spawn::use_own_group() {
  flags_ |= POSIX_SPAWN_SETPGROUP;
  ::posix_spawnattr_setflags(&attributes_, flags_);
  ::posix_spawnattr_setpgroup(&attributes_, 0);
}

pid_t Spawn::start(std::vector<std::string> words, std::vector<std::string> environment) const {
  pid_t child = -1;
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> variables = pointers_to(environment);
  const int error = ::posix_spawnp(&child, words.front().c_str(), &actions_, &attributes_,
                                   arguments.data(), variables.data());
  if (error != 0) throw std::system_error(error, std::generic_category());
  return child;
}

namespace {

using Clock = std::chrono::steady_clock;

/// Child program that is ended by signals if it does not end by itself after an interrupt.
class InterruptedProgram {
 public:
  explicit InterruptedProgram(pid_t child) : child_(child) {}

  void end_if_slow() {
    if (!is_interrupted()) return;
    if (!is_interrupted_) since_ = Clock::now();
    is_interrupted_ = true;
    const auto waited = Clock::now() - since_;
    if (waited > std::chrono::seconds(1) && !was_terminated_) {
      was_terminated_ = true;
      ::kill(child_, SIGTERM);
    }
    if (waited > std::chrono::seconds(6)) ::kill(child_, SIGKILL);
  }

 private:
  pid_t child_;
  bool is_interrupted_{false};
  Clock::time_point since_{};
  bool was_terminated_{false};
};

/// Waits until the process with this pidfd ends, at most 100 ms; 5 ms without a pidfd.
void wait_a_moment(int descriptor) {
  constexpr int longest_wait_ms = 100;
  if (descriptor < 0) {  // kernels before 5.3 have no pidfd_open
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
  // Calls the system directly, since glibc 2.36 declares pidfd_open without extern "C".
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  InterruptedProgram interrupted(child);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    interrupted.end_if_slow();
    wait_a_moment(descriptor);
  }
  if (descriptor >= 0) ::close(descriptor);
  const std::chrono::duration<double> took = Clock::now() - began;
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status), .seconds = took.count()};
  return {.status = WEXITSTATUS(status), .seconds = took.count()};
}

namespace {

/// Scope that ignores Ctrl-C and Ctrl-\: the terminal also sends these signals to the pager, which
/// decides whether to end.
class IgnoredInterrupts {
 public:
  IgnoredInterrupts() {
    for (std::size_t i = 0; i < signals.size(); ++i) former_[i] = std::signal(signals[i], SIG_IGN);
  }
  IgnoredInterrupts(const IgnoredInterrupts&) = delete;
  IgnoredInterrupts& operator=(const IgnoredInterrupts&) = delete;
  IgnoredInterrupts(IgnoredInterrupts&&) = delete;
  IgnoredInterrupts& operator=(IgnoredInterrupts&&) = delete;
  ~IgnoredInterrupts() {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      static_cast<void>(std::signal(signals[i], former_[i]));
    }
  }

  static constexpr std::array signals{SIGINT, SIGQUIT};

 private:
  std::array<void (*)(int), signals.size()> former_{};
};

int wait_for_end(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int pipe_to(const std::string& command, std::string_view text,
            const std::vector<std::pair<std::string, std::string>>& defaults) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  for (const auto& [name, value] : defaults) ::setenv(name.c_str(), value.c_str(), 0);
  pid_t child = -1;
  try {
    Spawn spawn;
    spawn.redirect(ends[0], STDIN_FILENO);
    child = spawn.start({"/bin/sh", "-c", command}, environment_with({}));
  } catch (const std::system_error&) {
    child = -1;
  }
  const IgnoredInterrupts ignored;
  ::close(ends[0]);
  if (child > 0) static_cast<void>(write_all(ends[1], text));
  ::close(ends[1]);
  return child > 0 ? wait_for_end(child) : -1;
}

}  // namespace clprobe::system
