// SPDX-License-Identifier: Apache-2.0
#include "commands/interrupt.hpp"

#include <csignal>

namespace clprobe::commands {
namespace {

// A signal handler can reach nothing but such a variable.
volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_interrupt(int signal_number) {
  interrupted = 1;
  // The next one takes the default way: a driver in an endless loop must not hold a person up.
  static_cast<void>(std::signal(signal_number, SIG_DFL));
}

}  // namespace

void watch_for_interrupts() {
  static_cast<void>(std::signal(SIGINT, on_interrupt));
  static_cast<void>(std::signal(SIGTERM, on_interrupt));
}

bool is_interrupted() { return interrupted != 0; }

}  // namespace clprobe::commands
