// SPDX-License-Identifier: Apache-2.0
// A cache beside one that is written as it is described.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/simulator/cache.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

/// Lines by set, those that were used last at the end.
class PlainCache {
 public:
  struct Line {
    std::uint64_t line{0};
    std::uint32_t sectors{0};
    bool is_owned{false};
    bool is_valid{true};
  };

  PlainCache(std::uint64_t sets, std::uint64_t ways) : ways_(ways), sets_(sets) {}

  Line* find(std::uint64_t line) {
    std::vector<Line>& set = set_of(line);
    const auto found = place_of(line);
    if (found == set.end() || !found->is_valid) return nullptr;
    std::rotate(found, found + 1, set.end());
    return &set.back();
  }
  /// Returns the line that had to go, 0 if none had that was owned.
  std::uint64_t insert(std::uint64_t line) {
    std::vector<Line>& set = set_of(line);
    std::erase_if(set, [](const Line& each) { return !each.is_valid; });
    std::uint64_t evicted = 0;
    if (set.size() == ways_) {
      if (set.front().is_owned) evicted = set.front().line;
      set.erase(set.begin());
    }
    set.push_back({.line = line});
    return evicted;
  }
  void drop(std::uint64_t line) {
    const auto found = place_of(line);
    if (found != set_of(line).end()) set_of(line).erase(found);
  }
  void invalidate() {
    for (std::vector<Line>& set : sets_) {
      for (Line& each : set) each.is_valid = each.is_owned;
    }
  }

 private:
  std::vector<Line>& set_of(std::uint64_t line) { return sets_[line % sets_.size()]; }
  std::vector<Line>::iterator place_of(std::uint64_t line) {
    std::vector<Line>& set = set_of(line);
    return std::find_if(set.begin(), set.end(),
                        [line](const Line& each) { return each.line == line; });
  }

  std::uint64_t ways_;
  std::vector<std::vector<Line>> sets_;
};

}  // namespace

TEST_CASE("a cache forgets what was used least recently, of few ways and of many") {
  Random random(20261129);
  for (int round = 0; round < rounds(200); ++round) {
    CAPTURE(round);
    const std::uint64_t ways = random.one_of({1, 2, 4, 8, 9, 16});
    const std::uint64_t sets = random.from_to(1, 5);
    Cache cache(sets * ways * 128, 128, ways);
    PlainCache plain(sets, ways);
    for (int step = 0; step < 1000; ++step) {
      const std::uint64_t line = random.from_to(1, 2 * sets * ways);
      if (random.chance(0.002)) {
        cache.invalidate();
        plain.invalidate();
      } else if (random.chance(0.02)) {
        cache.drop(line);
        plain.drop(line);
      } else {
        PlainCache::Line* const expected = plain.find(line);
        CacheLine evicted;
        CacheLine* found = nullptr;
        std::uint64_t expected_evicted = 0;
        if (expected == nullptr) expected_evicted = plain.insert(line);
        if (random.chance(0.5)) {
          found = &cache.find_or_put(line, evicted);
        } else {
          found = cache.find(line);
          REQUIRE((found == nullptr) == (expected == nullptr));
          if (found == nullptr) found = cache.insert(line, evicted);
        }
        PlainCache::Line* const now = plain.find(line);
        REQUIRE(found->line == line);
        REQUIRE(found->sectors == now->sectors);
        REQUIRE(found->is_owned == now->is_owned);
        REQUIRE((evicted.is_owned ? evicted.line : 0) == expected_evicted);
        found->sectors |= now->sectors |= 1U << random.below(4);
        found->is_owned = now->is_owned = now->is_owned || random.chance(0.1);
      }
    }
  }
}

}  // namespace clprobe::simulator
