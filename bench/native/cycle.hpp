// SPDX-License-Identifier: Apache-2.0
// A pointer chase by hand, for the native twins: memory on pages of one kind, one random cycle in
// it, and the loop that follows it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace native {

/// Memory that starts on a huge page's boundary; never freed.
inline char* allocate(std::size_t bytes, bool huge) {
  constexpr std::size_t huge_page = std::size_t{2} << 20U;
  const std::size_t mapped = bytes + 2 * huge_page;
  void* const mapping =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    std::perror("mmap");
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
inline void** make_cycle(char* memory, std::size_t nodes, std::size_t step,
                         std::mt19937_64& random) {
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

constexpr std::size_t unroll = 16;  ///< hops of one iteration

[[gnu::noinline]] inline void** chase(void** at, std::size_t iterations) {
  for (std::size_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 16
    for (std::size_t hop = 0; hop < unroll; ++hop) at = static_cast<void**>(*at);
  }
  return at;
}

}  // namespace native
