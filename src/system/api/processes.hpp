// SPDX-License-Identifier: Apache-2.0
// Signals that ask the program to end: Ctrl-C, a supervisor's SIGTERM, a terminal that is gone.
#pragma once

#include <spawn.h>
#include <sys/types.h>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace clprobe::system {

/// Makes the first SIGINT, SIGTERM, SIGHUP or SIGQUIT request a clean end; a later one ends the
/// program at once. Signals that were ignored from the start (nohup, a shell's `trap '' INT`) stay
/// ignored.
void watch_for_interrupts();

/// Returns true if a clean end was requested.
bool is_interrupted();

/// While it lives, signals wait: what is done meanwhile is done as a whole.
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

// Starting another program.

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

// Somebody else's program, from its start to its end.

/// End of a program: by a signal, otherwise with a status.
struct ProgramEnd {
  int status{0};
  int signal{0};  ///< number of the signal; 0: none
  double seconds{0.0};

  [[nodiscard]] bool is_success() const { return signal == 0 && status == 0; }
};

/// Runs `words`, of which the first is looked for as a shell does, and waits for its end. It has
/// this process's stdin, stderr and variables, with `variables` besides; what it writes to stdout
/// goes to stderr, since stdout is for our results. An interrupt is its own to answer: where it
/// does not end by itself, it is asked to (SIGTERM) after a second and ended after six. Throws
/// std::system_error where it cannot be started.
ProgramEnd run_program(const std::vector<std::string>& words,
                       const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace clprobe::system
