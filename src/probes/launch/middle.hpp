// SPDX-License-Identifier: Apache-2.0
// The middle of several times. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "clprobe/statistics.hpp"

namespace clprobe::launch {

/// Of times, how many are in their middle half, and what these take together.
struct Middle {
  std::uint64_t count{0};
  std::uint64_t ns{0};
};

/// A quarter of the times is left out on either side, and of three one: the host's scheduler adds
/// milliseconds to a few of them, and the clocks of some devices go in steps that a median would
/// show.
Middle middle_half(std::span<const std::uint64_t> times_ns);

/// A 95 % interval of the median by the ranks that the binomial distribution gives; of up to eight
/// values it is all of them. Needs at least one.
Interval interval_of_median(std::span<const double> values);

/// The time that one in a hundred reaches, and a 95 % interval of it by the ranks that the binomial
/// distribution gives. Needs at least one.
struct Slow {
  double ns{0.0};
  Interval interval{};
};
Slow slow_one_in_100(std::span<const std::uint64_t> times_ns);

}  // namespace clprobe::launch
