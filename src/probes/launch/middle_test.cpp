// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/launch.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace clprobe::launch {

TEST_CASE("launch: the middle half of times is what no few of them change") {
  const std::vector<std::uint64_t> times{4'000'000, 30, 10, 31, 33, 32, 90, 29};
  const Middle middle = middle_half(times);
  CHECK(middle.count == 4);  // the two shortest and the two longest times are dropped
  CHECK(middle.ns == 30 + 31 + 32 + 33);
}

TEST_CASE("launch: of three times the middle is the median, of fewer all") {
  CHECK(middle_half(std::vector<std::uint64_t>{70, 5, 9}).ns == 9);
  CHECK(middle_half(std::vector<std::uint64_t>{70, 5, 9}).count == 1);
  CHECK(middle_half(std::vector<std::uint64_t>{5, 9}).ns == 14);
  CHECK(middle_half(std::vector<std::uint64_t>{5}).count == 1);
  CHECK(middle_half({}).count == 0);
}

// For 16 values the interval has the ranks 4 and 13: 8 - 1.96 * 4 / 2 = 4.08.
TEST_CASE("launch: where the median of samples may be") {
  std::vector<double> values;
  for (int i = 16; i > 0; --i) values.push_back(i);
  CHECK(interval_of_median(values) == Interval{4.0, 13.0});
  CHECK(interval_of_median(std::vector{3.0, 9.0, 1.0}) == Interval{1.0, 9.0});
  CHECK(interval_of_median(std::vector{8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}) ==
        Interval{1.0, 8.0});
  CHECK(interval_of_median(std::vector{5.0}) == Interval{5.0, 5.0});
}

// The interval extends 1.96 standard deviations of the binomial distribution, sqrt(0.99 * 0.01 /
// 1000) = 0.00315, to each side.
TEST_CASE("launch: one in a hundred, between the ranks that chance allows") {
  std::vector<std::uint64_t> times;
  for (std::uint64_t i = 1000; i > 0; --i) times.push_back(i);
  const Slow slow = slow_one_in_100(times);
  CHECK(slow.ns == doctest::Approx(990.01));
  CHECK(slow.interval.low == doctest::Approx(983.85).epsilon(1e-4));
  CHECK(slow.interval.high == doctest::Approx(996.17).epsilon(1e-4));
}

TEST_CASE("launch: of few times one in a hundred is the longest at most") {
  CHECK(slow_one_in_100(std::vector<std::uint64_t>{3, 7}).interval.high == doctest::Approx(7.0));
}

}  // namespace clprobe::launch
