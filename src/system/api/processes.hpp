// SPDX-License-Identifier: Apache-2.0
// Signals that end the program: Ctrl-C, a supervisor's SIGTERM, a closed terminal. Started
// programs.
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

/// Delays signals while it lives, so that an operation is not interrupted.
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

/// Returns this process's variables with changes, as "NAME=VALUE"; the last change of a name
/// counts.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes);

/// Settings for starting a program. SIGPIPE and SIGXFSZ, which this process ignores, have their
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

  /// Starts the program `words`; the first word is a path or is searched in PATH. Returns the
  /// process. Throws std::system_error.
  [[nodiscard]] pid_t start(std::vector<std::string> words,
                            std::vector<std::string> environment) const;

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  short flags_{POSIX_SPAWN_SETSIGDEF};  // NOLINT(google-runtime-int): as POSIX has it
};

// Running a program of the user to its end.

/// How a program ended: by a signal, otherwise with a status.
struct ProgramEnd {
  int status{0};
  int signal{0};  ///< number of the signal; 0: none
  double seconds{0.0};

  [[nodiscard]] bool is_success() const { return signal == 0 && status == 0; }
};

/// Runs the program `words`, searched in PATH, and waits for its end. It has this process's stdin,
/// stderr and environment plus `variables`; its stdout goes to stderr, since stdout is for results.
/// After an interrupt, a program that does not end gets SIGTERM after 1 s and SIGKILL after 6 s.
/// Throws std::system_error if it cannot be started.
ProgramEnd run_program(const std::vector<std::string>& words,
                       const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace clprobe::system
