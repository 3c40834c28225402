// SPDX-License-Identifier: Apache-2.0
#include "simulator/meeting.hpp"

#include <chrono>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace clprobe::simulator {
namespace {

/// Looks from one at the clock to the next: some 10 us.
constexpr int looks_by_clock = 256;

/// Looks before the core is left to others: some 80 us, longer than a thread takes from one moment
/// to the next. Where cores are scarce, whoever is waited for needs this one. Who then sleeps is
/// soon back on a core; who only yields comes behind all that others have to do.
constexpr int max_looks = 2000;
constexpr std::chrono::microseconds nap{50};

/// A hint that this is a loop of looks, where there is one.
void hint() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace

bool Wait::pause() {
  if (looks_ == max_looks) {
    std::this_thread::sleep_for(nap);
    return true;
  }
  hint();
  return ++looks_ % looks_by_clock == 0;
}

bool run_together(std::size_t threads, const std::function<void(std::size_t)>& act) {
  // Nobody begins before all are there: without one of them the others would wait for ever.
  std::promise<bool> all_there;
  const std::shared_future<bool> begins = all_there.get_future().share();
  std::vector<std::thread> others;
  bool has_all = true;
  try {
    for (std::size_t i = 1; i < threads; ++i) {
      others.emplace_back([begins, i, &act] {
        if (begins.get()) act(i);
      });
    }
  } catch (const std::system_error&) {
    has_all = false;
  }
  all_there.set_value(has_all);
  if (has_all) act(0);
  for (std::thread& each : others) each.join();
  return has_all;
}

}  // namespace clprobe::simulator
