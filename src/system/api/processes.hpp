// SPDX-License-Identifier: Apache-2.0
// Signals that request the program's end (Ctrl-C, a supervisor's SIGTERM, a closed terminal), and
// the start of other programs.
#pragma once

#include <spawn.h>
#include <sys/types.h>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace clprobe::system {

/// Makes the first SIGINT, SIGTERM, SIGHUP or SIGQUIT request a clean end. After 0.5 s, a second
/// such signal except SIGHUP ends the program at once. Signals that were ignored from the start
/// (nohup, a shell's `trap '' INT`) stay ignored.
void watch_for_interrupts();

/// Returns true if a clean end was requested.
bool is_interrupted();

/// Scope that delays the calling thread's signals, so that an operation is not interrupted.
class HeldBackSignals {
 public:
  HeldBackSignals();
  HeldBackSignals(const HeldBackSignals&) = delete;
  HeldBackSignals& operator=(const HeldBackSignals&) = delete;
  HeldBackSignals(HeldBackSignals&&) = delete;
  HeldBackSignals& operator=(HeldBackSignals&&) = delete;
  ~HeldBackSignals();

 private:
  sigset_t former_{};
};

// Starting a program.

/// Returns this process's environment with `changes` applied, as strings "NAME=VALUE". If `changes`
/// contains a name twice, its last value counts.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes);

/// Settings for starting a program. This process ignores SIGPIPE and SIGXFSZ; the started program
/// does not.
class Spawn {
 public:
  Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  Spawn(Spawn&&) = delete;
  Spawn& operator=(Spawn&&) = delete;
  ~Spawn();

  /// Makes this process's descriptor `from` the program's descriptor `to`.
  void redirect(int from, int to);
  /// Makes /dev/null the program's stdin.
  void close_stdin();
  /// Puts the program into its own process group, so that the terminal's Ctrl-C does not reach the
  /// program.
  void use_own_group();

  /// Starts a program. `words`: its path, or its name to be found in PATH, and its arguments.
  /// Returns the process ID. Throws std::system_error.
  [[nodiscard]] pid_t start(std::vector<std::string> words,
                            std::vector<std::string> environment) const;

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  short flags_{POSIX_SPAWN_SETSIGDEF};  // NOLINT(google-runtime-int): as POSIX has it
};

// Running a user's program until it ends.

/// End of a program: the signal that ended it, or else its exit status.
struct ProgramEnd {
  int status{0};
  int signal{0};  ///< number of the signal; 0: none
  double seconds{0.0};

  [[nodiscard]] bool is_success() const { return signal == 0 && status == 0; }
};

/// Runs the program `words`, found in PATH, and waits until it ends. The program shares this
/// process's stdin, stderr and environment plus `variables`. Its stdout goes to stderr, since
/// stdout is reserved for results. If the program is still running 1 s after an interrupt, it gets
/// SIGTERM; after 6 s, SIGKILL. Throws std::system_error if the program cannot be started.
ProgramEnd run_program(const std::vector<std::string>& words,
                       const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace clprobe::system
