// SPDX-License-Identifier: Apache-2.0
#include "system/api/processes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace clprobe::system {
namespace {

// A signal handler can reach nothing but such a variable. 0: nobody has asked.
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
  // One request may arrive twice: timeout(1) signals the program and its group. When a terminal
  // hangs up, the shell sends a signal, and so does the kernel when the shell ends.
  constexpr std::int64_t same_request_ms = 500;
  if (signal_number == SIGHUP || now_ms() - first_ms < same_request_ms) return;
  // A driver in an endless loop must not hold a person up.
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
    // Not SA_RESTART: what waits for a reader or a writer has to come back and see that it is over.
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

}  // namespace clprobe::system
