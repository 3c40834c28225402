// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/permutation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace clprobe {
namespace {

using Order = std::vector<std::uint32_t>;

Order order_of(std::uint32_t nodes, std::uint32_t key) {
  const Permutation permuted(nodes, key);
  Order order(nodes);
  for (std::uint32_t k = 0; k < nodes; ++k) order[k] = permuted(k);
  return order;
}

/// Returns true if every node of 0 .. n-1 occurs exactly once. A ring through such an order is a
/// single cycle, since the ring links the last node to the first node.
bool has_each_once(const Order& order) {
  std::vector<bool> seen(order.size(), false);
  for (const std::uint32_t node : order) {
    if (node >= order.size() || seen[node]) return false;
    seen[node] = true;
  }
  return true;
}

/// Returns the nodes of the ring, starting at node 0.
Order ring_of(Order order) {
  std::rotate(order.begin(), std::find(order.begin(), order.end(), 0U), order.end());
  return order;
}

/// Returns the chi-squared statistic of counts against equal counts, in standard deviations from
/// its mean.
double excess(const std::vector<std::uint32_t>& counts, double expected, double freedoms) {
  double sum = 0.0;
  for (const std::uint32_t count : counts) {
    sum += (count - expected) * (count - expected) / expected;
  }
  return (sum - freedoms) / std::sqrt(2.0 * freedoms);
}

std::uint32_t after(const Order& order, std::size_t k, std::size_t lag) {
  return order[(k + lag) % order.size()];
}

std::uint32_t stride_at(const Order& order, std::size_t k, std::size_t lag = 1) {
  const std::uint32_t to = after(order, k, lag);
  const auto nodes = static_cast<std::uint32_t>(order.size());
  return to >= order[k] ? to - order[k] : to + (nodes - order[k]);
}

double excess_of_distances(const Order& order, std::size_t lag) {
  constexpr std::uint64_t bins = 64;
  std::vector<std::uint32_t> counts(bins, 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    ++counts[stride_at(order, k, lag) * bins / order.size()];
  }
  return excess(counts, static_cast<double>(order.size()) / bins, bins - 1);
}

/// Returns the excess of the counts of class pairs: the class of a node and the class of the node
/// `lag` positions later. All classes have equally many nodes.
template <typename Class>
double excess_of_pairs(const Order& order, std::size_t lag, std::size_t classes, Class class_of) {
  std::vector<std::uint32_t> counts(classes * classes, 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    ++counts[class_of(order[k]) * classes + class_of(after(order, k, lag))];
  }
  const auto sides = static_cast<double>(classes);
  return excess(counts, static_cast<double>(order.size()) / sides / sides,
                (sides - 1) * (sides - 1));
}

/// Returns Pearson's correlation of nodes `lag` positions apart, times the square root of the
/// number of nodes.
double correlation(const Order& order, std::size_t lag) {
  const auto nodes = static_cast<double>(order.size());
  const double mean = (nodes - 1) / 2;
  double sum = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    sum += (order[k] - mean) * (after(order, k, lag) - mean);
  }
  return sum / nodes / ((nodes * nodes - 1) / 12) * std::sqrt(nodes);
}

// Numbers of nodes just below, at and just above powers of two, where the permutation mixes halves
// least, and numbers between powers of two.
constexpr std::array sizes{1000U, 1023U, 1024U, 1025U, 5461U, 8191U, 12'289U, 16'383U, 40'001U};
// Number of standard deviations that chance exceeds in one of 100,000 tests.
constexpr double surely = 4.5;

/// Returns orders of `nodes` nodes, each with its own key.
std::vector<Order> orders_of(std::uint32_t nodes) {
  const std::uint32_t count = 6 + 50'000 / nodes;
  std::vector<Order> orders;
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    orders.push_back(order_of(nodes, permutation_key(seed)));
  }
  return orders;
}

/// Returns the mean of a measure over the orders, in standard deviations of that mean for random
/// orders.
template <typename Measure>
double mean_of(const std::vector<Order>& orders, Measure measure) {
  double sum = 0.0;
  for (const Order& order : orders) sum += measure(order);
  return sum / std::sqrt(static_cast<double>(orders.size()));
}

TEST_CASE("permutation: every number of nodes gives each of them once") {
  for (std::uint32_t nodes = 1; nodes <= 5000; ++nodes) {
    CAPTURE(nodes);
    REQUIRE(has_each_once(order_of(nodes, permutation_key(nodes))));
  }
  for (const std::uint32_t nodes : {65'535U, 65'536U, 65'537U, 1'000'003U, (1U << 21U) - 1}) {
    CAPTURE(nodes);
    CHECK(has_each_once(order_of(nodes, 7)));
  }
  for (const std::uint32_t key : {0U, 1U, 0x80000000U, 0xffffffffU}) {
    CHECK(has_each_once(order_of(1000, key)));
  }
}

TEST_CASE("permutation: of up to 2^32 - 1 nodes each is one of them") {
  for (const std::uint32_t nodes :
       {0x7fffffffU, 0x80000000U, 0x80000001U, 0xc0000000U, 0xffffffffU}) {
    const Permutation permuted(nodes, 42);
    Order some;
    for (std::uint32_t k = 0; k < 1000; ++k) {
      some.push_back(permuted(k));
      some.push_back(permuted(nodes - 1 - k));
    }
    CAPTURE(nodes);
    CHECK(*std::max_element(some.begin(), some.end()) < nodes);
    CHECK(*std::max_element(some.begin(), some.end()) > nodes / 100 * 99);
    std::sort(some.begin(), some.end());
    CHECK(std::adjacent_find(some.begin(), some.end()) == some.end());
  }
}

TEST_CASE("permutation: the same key gives the same order on every machine, another key another") {
  // A Python program written independently computed these orders. The orders must not change: a
  // stored run names only its seed, and the probe must make the same rings from this seed.
  CHECK(order_of(1, 42) == Order{0});
  CHECK(order_of(8, 42) == Order{0, 1, 5, 3, 2, 7, 6, 4});
  CHECK(order_of(12, 1) == Order{5, 1, 8, 9, 10, 2, 7, 4, 11, 3, 6, 0});
  const Permutation large(0xfffffffbU, 12345);
  CHECK(large(0) == 103503319);
  CHECK(large(0xfffffffaU) == 72654818);
  CHECK(permutation_key(42) == 4112119918);
  CHECK(permutation_key(0xffffffffffffffffU) == 2159379435);
  std::map<Order, int> orders;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    ++orders[order_of(100, permutation_key(seed))];
  }
  CHECK(orders.size() == 1000);
}

TEST_CASE("permutation: rings of few nodes are equally likely") {
  for (const auto& [nodes, rings] : {std::pair{3U, 2U}, {4U, 6U}, {5U, 24U}, {6U, 120U}}) {
    constexpr std::uint32_t draws_a_ring = 100;
    std::map<Order, std::uint32_t> found;
    for (std::uint32_t seed = 0; seed < draws_a_ring * rings; ++seed) {
      ++found[ring_of(order_of(nodes, permutation_key(seed)))];
    }
    std::vector<std::uint32_t> counts;
    for (const auto& each : found) counts.push_back(each.second);
    CHECK(counts.size() == rings);
    CHECK(excess(counts, draws_a_ring, rings - 1) < surely);
  }
}

TEST_CASE("permutation: the next node, and the one after it, is any distance away") {
  for (const std::uint32_t nodes : sizes) {
    const std::vector<Order> orders = orders_of(nodes);
    for (const std::size_t lag : {1U, 2U}) {
      CAPTURE(nodes);
      CAPTURE(lag);
      const double distances =
          mean_of(orders, [&](const Order& order) { return excess_of_distances(order, lag); });
      CHECK(std::abs(distances) < surely);
      const double serial =
          mean_of(orders, [&](const Order& order) { return correlation(order, lag); });
      CHECK(std::abs(serial) < surely);
    }
  }
}

TEST_CASE("permutation: nodes of every bank, set and part are followed by those of every other") {
  for (const std::uint32_t nodes : sizes) {
    const std::vector<Order> orders = orders_of(nodes);
    for (const std::size_t classes : {2U, 4U, 8U, 16U, 32U, 64U}) {
      if (nodes < 8 * classes * classes) continue;
      for (const std::size_t lag : {1U, 2U}) {
        CAPTURE(nodes);
        CAPTURE(classes);
        CAPTURE(lag);
        const double residues = mean_of(orders, [&](const Order& order) {
          return excess_of_pairs(order, lag, classes,
                                 [&](std::uint32_t node) { return node % classes; });
        });
        CHECK(std::abs(residues) < surely);
        const double parts = mean_of(orders, [&](const Order& order) {
          return excess_of_pairs(order, lag, classes,
                                 [&](std::uint64_t node) { return node * classes / nodes; });
        });
        CHECK(std::abs(parts) < surely);
      }
    }
  }
}

TEST_CASE("permutation: no stride comes often or twice in a row more than by chance") {
  for (const std::uint32_t nodes : sizes) {
    std::uint32_t most = 0;
    std::uint32_t repeats = 0;
    const std::vector<Order> orders = orders_of(nodes);
    for (const Order& order : orders) {
      std::vector<std::uint32_t> counts(nodes, 0);
      for (std::size_t k = 0; k < nodes; ++k) {
        const std::uint32_t stride = stride_at(order, k);
        most = std::max(most, ++counts[stride]);
        if (stride == stride_at(order, (k + 1) % nodes)) ++repeats;
      }
    }
    CAPTURE(nodes);
    // The number of occurrences of a stride is Poisson distributed with mean 1: a stride occurs 13
    // times in one of 16 billion cases.
    CHECK(most < 13);
    // In a random order one stride on average equals the stride before it.
    const auto expected = static_cast<double>(orders.size());
    CHECK(repeats < expected + surely * std::sqrt(expected));
  }
}

TEST_CASE("permutation: as many successors are on the same page as by chance") {
  constexpr std::uint32_t lines = 64;  // lines of 64 bytes in a page of 4 KiB
  for (const std::uint32_t nodes : sizes) {
    double expected = 0.0;
    for (std::uint32_t page = 0; page < nodes; page += lines) {
      const double on_it = std::min(lines, nodes - page);
      expected += on_it * (on_it - 1) / (nodes - 1);
    }
    const double same = mean_of(orders_of(nodes), [&](const Order& order) {
      double count = 0.0;
      for (std::size_t k = 0; k < nodes; ++k) {
        if (order[k] / lines == after(order, k, 1) / lines) ++count;
      }
      return (count - expected) / std::sqrt(expected);
    });
    CAPTURE(nodes);
    CHECK(std::abs(same) < surely);
  }
}

TEST_CASE("permutation: one key keeps the order, and no seed gives it") {
  const Permutation order(1000, in_order_key);
  for (std::uint32_t k = 0; k < 1000; ++k) REQUIRE(order(k) == k);
  CHECK(permutation_key(0) != in_order_key);
  CHECK(Permutation(1000, permutation_key(0))(1) != 1);
}

TEST_CASE("permutation: there is one of no nodes") {
  CHECK_THROWS_AS(Permutation(0, 42), std::out_of_range);
}

}  // namespace
}  // namespace clprobe
