// SPDX-License-Identifier: Apache-2.0
#include "analysis/api/estimate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

namespace clprobe {
namespace {

/// All that a thousand turns of the bootstrap give.
std::set<double> outcomes(const Visits& visits) {
  std::mt19937_64 generator(1);
  std::set<double> all;
  const double typical = typical_ns(visits);
  for (int i = 0; i < 1000; ++i) all.insert(resampled_ns(visits, typical, generator));
  return all;
}

}  // namespace

TEST_CASE("what is typical is the median of the faster half of all visits' samples") {
  CHECK(typical_ns({{7.0}}) == 7.0);
  CHECK(typical_ns({{100.0, 300.0}, {120.0, 900.0, 110.0}}) == 110.0);
  CHECK(typical_ns({{900.0, 901.0, 902.0}, {100.0, 102.0, 101.0}}) == 101.0);
}

TEST_CASE("a bootstrap draws visits, and moves what it finds farther away for their small number") {
  // Both, or the fast one twice: 100; the slow one twice: 110.
  CHECK(outcomes({{100.0}, {110.0}}) == std::set<double>{100.0, 100.0 + 10.0 * std::sqrt(2.0)});
  // However many samples a visit has.
  CHECK(outcomes({{100.0, 100.0, 100.0}, {110.0, 110.0, 110.0}}) ==
        std::set<double>{100.0, 100.0 + 10.0 * std::sqrt(2.0)});
  CHECK(outcomes({{100.0}, {100.0}, {110.0}}) ==
        std::set<double>{100.0, 100.0 + 5.0 * std::sqrt(1.5), 100.0 + 10.0 * std::sqrt(1.5)});
}

TEST_CASE("of one visit a bootstrap draws samples of the faster half") {
  CHECK(outcomes({{100.0, 110.0, 200.0, 300.0}}) == std::set<double>{100.0, 105.0, 110.0});
  CHECK(outcomes({{100.0}}) == std::set<double>{100.0});
}

}  // namespace clprobe
