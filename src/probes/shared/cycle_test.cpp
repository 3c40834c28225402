// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/cycle.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace clprobe {
namespace {

using Order = std::vector<std::uint32_t>;

/// Whether `order` walks over every node of 0 .. n-1 once, from node 0. An order of the walk is one
/// single cycle by that alone: the chase goes from its last node back to its first.
bool is_one_cycle(const Order& order, std::uint32_t nodes) {
  const std::set<std::uint32_t> seen(order.begin(), order.end());
  return order.size() == nodes && order.front() == 0 && seen.size() == nodes &&
         *seen.rbegin() == nodes - 1;
}

Order without_nodes_from(Order order, std::uint32_t nodes) {
  std::erase_if(order, [nodes](std::uint32_t node) { return node >= nodes; });
  return order;
}

/// Chi-square of the cycles of `nodes` nodes, cut from a cycle of `max_nodes`, over many seeds.
double chi_square(std::uint32_t max_nodes, std::uint32_t nodes, int all_cycles) {
  constexpr int per_cycle = 500;
  std::map<Order, int> counts;
  const int draws = per_cycle * all_cycles;
  for (int seed = 0; seed < draws; ++seed) {
    ++counts[NestedCycle(max_nodes, static_cast<std::uint64_t>(seed)).order(nodes)];
  }
  REQUIRE(counts.size() == static_cast<std::size_t>(all_cycles));
  double sum = 0.0;
  for (const auto& [order, count] : counts) {
    const double off = count - per_cycle;
    sum += off * off / per_cycle;
  }
  return sum;
}

// What a fair generator exceeds in one of a thousand tests, by degrees of freedom.
constexpr double chi_square_of_5 = 20.5;
constexpr double chi_square_of_23 = 49.7;

TEST_CASE("every number of nodes gives one single cycle") {
  for (const std::uint32_t most : {1U, 2U, 3U, 7U, 64U, 65U, 129U}) {
    const NestedCycle cycle(most, 42);
    for (std::uint32_t nodes = 1; nodes <= most; ++nodes) {
      CAPTURE(most);
      CAPTURE(nodes);
      CHECK(is_one_cycle(cycle.order(nodes), nodes));
    }
  }
  CHECK(is_one_cycle(NestedCycle(100'003, 7).order(100'003), 100'003));
  CHECK(is_one_cycle(NestedCycle(100'003, 7).order(50'001), 50'001));
}

TEST_CASE("a smaller cycle is the larger one with its other nodes left out") {
  constexpr std::uint32_t most = 200;
  const NestedCycle cycle(most, 3);
  const Order largest = cycle.order(most);
  for (std::uint32_t nodes = 1; nodes <= most; ++nodes) {
    CAPTURE(nodes);
    CHECK(cycle.order(nodes) == without_nodes_from(largest, nodes));
  }
}

TEST_CASE("a cycle does not depend on the maximum that it was made with") {
  const NestedCycle small(50, 11);
  const NestedCycle large(5000, 11);
  CHECK(small.order(50) == large.order(50));
  CHECK(small.order(13) == large.order(13));
}

TEST_CASE("the same seed gives the same cycle on every machine, another seed another") {
  // From an mt19937_64 written apart. Stored runs name their seed: with other literals here their
  // cycles could not be made again.
  CHECK(NestedCycle(8, 42).order(8) == Order{0, 6, 4, 7, 5, 1, 2, 3});
  CHECK(NestedCycle(12, 1).order(12) == Order{0, 11, 8, 4, 2, 1, 5, 9, 6, 10, 3, 7});
  CHECK(NestedCycle(1000, 42).order(1000) == NestedCycle(1000, 42).order(1000));
  CHECK(NestedCycle(1000, 42).order(1000) != NestedCycle(1000, 43).order(1000));
}

TEST_CASE("all cycles are equally likely") {
  CHECK(chi_square(4, 4, 6) < chi_square_of_5);
  CHECK(chi_square(5, 5, 24) < chi_square_of_23);
  CHECK(chi_square(11, 4, 6) < chi_square_of_5);
  CHECK(chi_square(9, 5, 24) < chi_square_of_23);
}

TEST_CASE("a stride cannot be followed: neighbours in the chase are far apart") {
  constexpr std::uint32_t most = 10'000;
  const Order order = NestedCycle(most, 5).order(most);
  std::map<std::int64_t, int> strides;
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {
    ++strides[static_cast<std::int64_t>(order[k + 1]) - static_cast<std::int64_t>(order[k])];
  }
  const auto max_common =
      std::max_element(strides.begin(), strides.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  // Of 10,000 hops over strides of up to 10,000 in both directions one has about 1 of each.
  CHECK(max_common->second < 12);
}

TEST_CASE("a cycle that was not made is refused") {
  CHECK_THROWS_AS(NestedCycle(0, 42), std::out_of_range);
  const NestedCycle cycle(10, 42);
  CHECK_THROWS_AS(static_cast<void>(cycle.order(0)), std::out_of_range);
  CHECK_THROWS_AS(static_cast<void>(cycle.order(11)), std::out_of_range);
  CHECK_THROWS_AS(static_cast<void>(cycle.order(0xffffffffU)), std::out_of_range);
  CHECK(cycle.order(1) == Order{0});
}

}  // namespace
}  // namespace clprobe
