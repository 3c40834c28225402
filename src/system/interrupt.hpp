// SPDX-License-Identifier: Apache-2.0
// Signals that ask the program to end: Ctrl-C, a supervisor's SIGTERM, a terminal that is gone.
#pragma once

#include <csignal>

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

}  // namespace clprobe::system
