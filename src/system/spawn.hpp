// SPDX-License-Identifier: Apache-2.0
// Starting another program.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace clprobe::system {

/// "NAME=VALUE" of this process's variables with changes, of which the last of a name counts.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes);

/// Settings of a program's start. SIGPIPE and SIGXFSZ, which this process ignores, have their
/// default effect there.
class Spawn {
 public:
  Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  Spawn(Spawn&&) = delete;
  Spawn& operator=(Spawn&&) = delete;
  ~Spawn();

  /// Gives the program this process's descriptor `from` as `to`.
  void redirect(int from, int to);
  /// Gives the program /dev/null as stdin.
  void close_stdin();
  /// Puts the program into a process group of its own, which Ctrl-C does not reach.
  void use_own_group();

  /// Starts `words`, of which the first is a path or is looked for in PATH. Returns the process.
  /// Throws std::system_error.
  [[nodiscard]] pid_t start(std::vector<std::string> words,
                            std::vector<std::string> environment) const;

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  short flags_{POSIX_SPAWN_SETSIGDEF};  // NOLINT(google-runtime-int): as POSIX has it
};

}  // namespace clprobe::system
