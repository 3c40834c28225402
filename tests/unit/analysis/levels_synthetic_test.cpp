// SPDX-License-Identifier: Apache-2.0
// Levels on synthetic curves whose truth is known: seeded, so that every run sees the same curves.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "random.hpp"
#include "synthetic_memories.hpp"

namespace clprobe {
namespace {

std::vector<CurvePoint> sweep(const Memory& memory, Random& random) {
  const double last = memory.caches.back().capacity_bytes * 40.0;
  std::vector<CurvePoint> curve;
  for (double size = first_size; size <= last; size *= 1.09) {
    const double whole = std::floor(size / 64.0) * 64.0;
    curve.push_back({whole, memory.measure(whole, random)});
  }
  return curve;
}

}  // namespace

TEST_CASE("levels of synthetic memories are found, and none is invented") {
  constexpr int curves = 400;
  Score plain;
  Score refined;
  for (int i = 0; i < curves; ++i) {
    Random random(1000U + static_cast<std::uint64_t>(i));
    const Memory memory = random_memory(random);
    std::vector<CurvePoint> curve = sweep(memory, random);
    score(memory, find_levels(curve), plain);
    for (const double size : sizes_around_knees(curve, 1.04)) {
      curve.push_back({size, memory.measure(size, random)});
    }
    score(memory, find_levels(curve), refined);
  }
  for (const Score& total : {plain, refined}) {
    MESSAGE("levels " << total.levels << ", found " << total.found << ", invented "
                      << total.invented << "; capacities " << total.capacities
                      << ", in their bracket " << total.in_bracket);
    CHECK(total.invented == 0);
    CHECK(total.found >= 0.98 * total.levels);
    CHECK(total.in_bracket >= 0.98 * total.capacities);
  }
}

TEST_CASE("a memory with one level has one level, whatever the noise") {
  int others = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const double noise = random.uniform(0.0, 0.04);
    std::vector<CurvePoint> curve;
    const double ratio = random.uniform(1.04, 1.5);
    for (double size = first_size; size < 1e8; size *= ratio) {
      curve.push_back({size, 100.0 * (1.0 + noise * random.normal())});
    }
    if (find_levels(curve).size() != 1) ++others;
  }
  CHECK(others == 0);
}

}  // namespace clprobe
