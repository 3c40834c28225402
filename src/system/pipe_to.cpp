// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "system/api/processes.hpp"

namespace clprobe::system {
namespace {

/// Ignores Ctrl-C, which is for the program in front and must not end this one first.
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
