// SPDX-License-Identifier: Apache-2.0
// What the native twins of CPUs have in common: threads that begin at once, each on its core.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace native {

inline void stay_on_core(unsigned number) {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(number % std::max(1U, std::thread::hardware_concurrency()), &core);
  pthread_setaffinity_np(pthread_self(), sizeof core, &core);
}

/// The seconds in which so many threads do `work` of their number, from when all of them stand
/// ready: starting them is no part of it.
template <typename Work>
double seconds_of_threads(unsigned count, const Work& work) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < count; ++number) {
    threads.emplace_back([&, number] {
      stay_on_core(number);
      ++ready;
      while (!go) std::this_thread::yield();
      work(number);
    });
  }
  while (ready < count) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  go = true;
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace native
