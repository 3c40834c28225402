// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe latency` on a CPU: a pointer chase as one writes it by hand.
//
//   chase WORKING_SET_BYTES STEP_BYTES huge|small REPEATS
//
// One JSON object on stdout: for each repeat the ns and the ticks of one hop, and the share of the
// memory that was on huge pages.
#include <sched.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "cycle.hpp"

namespace {

using Steady = std::chrono::steady_clock;

/// Time stamps in reference cycles; fenced, since an out-of-order core would read them early.
std::uint64_t ticks_now() {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
#else
  return 0;
#endif
}

/// Stays on the core where it is, so that no migration empties the caches.
void pin_to_this_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Kilobytes on transparent huge pages in this process, as the kernel counts them.
long huge_kilobytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    long kilobytes = 0;
    if (word == "AnonHugePages:" && file >> kilobytes) return kilobytes;
  }
  return 0;
}

struct Timing {
  double ns{0.0};
  double ticks{0.0};
};

Timing time_hops(void**& at, std::size_t iterations) {
  const auto begin = Steady::now();
  const std::uint64_t begin_ticks = ticks_now();
  at = native::chase(at, iterations);
  asm volatile("" : : "r"(at) : "memory");
  const std::uint64_t end_ticks = ticks_now();
  const std::chrono::duration<double, std::nano> elapsed = Steady::now() - begin;
  const auto hops = static_cast<double>(iterations * native::unroll);
  return {elapsed.count() / hops, static_cast<double>(end_ticks - begin_ticks) / hops};
}

void print_list(const char* name, const std::vector<Timing>& timings, double Timing::*member) {
  std::printf(", \"%s\": [", name);
  const char* comma = "";
  for (const Timing& timing : timings) {
    std::printf("%s%.4f", comma, timing.*member);
    comma = ", ";
  }
  std::printf("]");
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr, "usage: chase WORKING_SET_BYTES STEP_BYTES huge|small REPEATS\n");
    return 2;
  }
  const auto number = [&](int n) { return std::strtoull(words[n], nullptr, 10); };
  const std::size_t bytes = number(1);
  const std::size_t step = number(2);
  const std::size_t nodes = step == 0 ? 0 : bytes / step;
  if (nodes < 2) {
    std::fprintf(stderr, "chase: the working set must hold two nodes\n");
    return 2;
  }
  pin_to_this_core();
  char* const memory = native::allocate(bytes, std::string(words[3]) == "huge");
  std::mt19937_64 random(42);
  void** at = native::make_cycle(memory, nodes, step, random);

  // A whole lap first, and never less than 50 ms, so that the core is at its frequency.
  const std::size_t lap = nodes / native::unroll + 1;
  for (const auto begin = Steady::now(); Steady::now() - begin < std::chrono::milliseconds(50);) {
    at = native::chase(at, lap);
  }
  const double ns = time_hops(at, lap).ns;
  // 4 ms of hops, or 16384 hops where that is longer.
  const auto wished = static_cast<std::size_t>(4e6 / ns / static_cast<double>(native::unroll));
  const std::size_t iterations = std::max<std::size_t>(wished, 1024);
  std::vector<Timing> timings;
  for (std::size_t repeat = 0; repeat < number(4); ++repeat) {
    timings.push_back(time_hops(at, iterations));
  }
  const double huge_share =
      100.0 * 1024.0 * static_cast<double>(huge_kilobytes()) / static_cast<double>(bytes);
  std::printf("{\"working_set_bytes\": %zu, \"huge_page_percent\": %.0f", bytes,
              std::min(huge_share, 100.0));
  print_list("ns", timings, &Timing::ns);
  print_list("ticks", timings, &Timing::ticks);
  std::printf("}\n");
  // Never true: the last node is shown to be needed.
  return at == nullptr ? 1 : 0;
}
