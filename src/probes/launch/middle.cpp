// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/middle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace clprobe::launch {

Middle middle_half(std::span<const std::uint64_t> times_ns) {
  std::vector<std::uint64_t> times(times_ns.begin(), times_ns.end());
  std::sort(times.begin(), times.end());
  const std::size_t aside = (times.size() + 1) / 4;
  Middle middle;
  for (std::size_t i = aside; i + aside < times.size(); ++i) {
    ++middle.count;
    middle.ns += times[i];
  }
  return middle;
}

Interval interval_of_median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  const double aside = student_t(normal_degrees) * std::sqrt(count) / 2.0;
  const double rank = std::max(1.0, std::floor(count / 2.0 - aside));
  const auto from_the_end = static_cast<std::size_t>(rank);
  return {sorted.at(from_the_end - 1), sorted.at(sorted.size() - from_the_end)};
}

Slow slow_one_in_100(std::span<const std::uint64_t> times_ns) {
  constexpr double share = 0.99;
  const std::vector<double> times(times_ns.begin(), times_ns.end());
  const auto count = static_cast<double>(times.size());
  const double aside = student_t(normal_degrees) * std::sqrt(share * (1.0 - share) / count);
  return {quantile(times, share),
          {quantile(times, share - aside), quantile(times, std::min(1.0, share + aside))}};
}

}  // namespace clprobe::launch
