// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe latency` on a CPU: a pointer chase as one writes it by hand.
//
//   chase WORKING_SET_BYTES STEP_BYTES huge|small REPEATS
//
// One JSON object on stdout: for each repeat the ns and the ticks of one hop, and the share of the
// memory that was on huge pages.
#include <sched.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t huge_page = std::size_t{2} << 20U;

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

/// Memory that starts on a huge page's boundary; never freed.
char* allocate(std::size_t bytes, bool huge) {
  const std::size_t mapped = bytes + 2 * huge_page;
  void* const mapping =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    std::perror("chase: mmap");
    std::exit(1);
  }
  const auto begin = (reinterpret_cast<std::uintptr_t>(mapping) + huge_page - 1) & ~(huge_page - 1);
  char* const memory = reinterpret_cast<char*>(begin);
  // The whole mapping's tail: the kernel makes a huge page only where all of it is ours.
  const std::size_t advised = (bytes + huge_page - 1) & ~(huge_page - 1);
  madvise(memory, advised, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < advised; at += 64) memory[at] = static_cast<char>(at >> 6U);
  return memory;
}

/// A random single cycle over the nodes (Sattolo 1986). A stride that a prefetcher can follow would
/// make memory look like cache.
void** make_cycle(char* memory, std::size_t nodes, std::size_t step, std::mt19937_64& random) {
  std::vector<std::size_t> order(nodes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = nodes - 1; i > 0; --i) {
    std::swap(order[i], order[std::uniform_int_distribution<std::size_t>(0, i - 1)(random)]);
  }
  // order is one cycle of the permutation node -> order[node].
  for (std::size_t node = 0; node < nodes; ++node) {
    *reinterpret_cast<void**>(memory + node * step) = memory + order[node] * step;
  }
  return reinterpret_cast<void**>(memory);
}

constexpr std::size_t unroll = 16;

[[gnu::noinline]] void** chase(void** at, std::size_t iterations) {
  for (std::size_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (std::size_t hop = 0; hop < unroll; ++hop) at = static_cast<void**>(*at);
  }
  return at;
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
  at = chase(at, iterations);
  asm volatile("" : : "r"(at) : "memory");
  const std::uint64_t end_ticks = ticks_now();
  const std::chrono::duration<double, std::nano> elapsed = Steady::now() - begin;
  const auto hops = static_cast<double>(iterations * unroll);
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
  char* const memory = allocate(bytes, std::string(words[3]) == "huge");
  std::mt19937_64 random(42);
  void** at = make_cycle(memory, nodes, step, random);

  // A whole lap first, and never less than 50 ms, so that the core is at its frequency.
  const std::size_t lap = nodes / unroll + 1;
  for (const auto begin = Steady::now(); Steady::now() - begin < std::chrono::milliseconds(50);) {
    at = chase(at, lap);
  }
  const double ns = time_hops(at, lap).ns;
  // 4 ms of hops, or 16384 hops where that is longer.
  const auto wished = static_cast<std::size_t>(4e6 / ns / static_cast<double>(unroll));
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
