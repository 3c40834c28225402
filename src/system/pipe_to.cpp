// SPDX-License-Identifier: Apache-2.0
#include "system/pipe_to.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "system/write.hpp"

namespace clprobe::system {
namespace {

/// A Ctrl-C is for the program in front, and must not end this one before it.
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

/// The shell with the pipe's reading end as its stdin; -1 where that fails.
pid_t start(const std::string& command, const std::array<int, 2>& ends) {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  // What is ignored stays so in a new program, which would not expect it.
  sigset_t defaults{};
  ::sigemptyset(&defaults);
  for (const int each : {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, each);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::array<std::string, 3> words{"sh", "-c", command};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = -1;
  const int error =
      ::posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0 ? child : -1;
}

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
  const IgnoredInterrupts ignored;
  const pid_t child = start(command, ends);
  ::close(ends[0]);
  if (child > 0) static_cast<void>(write_all(ends[1], text));
  ::close(ends[1]);
  return child > 0 ? wait_for_end(child) : -1;
}

}  // namespace clprobe::system
