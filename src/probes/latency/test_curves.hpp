// SPDX-License-Identifier: Apache-2.0
// For tests: curves of latency whose levels are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/latency/test_devices.hpp"

namespace clprobe::latency {

/// A curve with the given plateaus; a size beyond a capacity misses by its share.
struct Plateau {
  double ns;
  double capacity_bytes;  // 0: the last
};

inline double time_at(const std::vector<Plateau>& plateaus, double size) {
  double time = 0.0;
  double nearer = 0.0;
  for (const Plateau& plateau : plateaus) {
    const bool is_last = plateau.capacity_bytes == 0.0;
    const double within = is_last ? 1.0 : std::min(1.0, plateau.capacity_bytes / size);
    time += plateau.ns * (within - nearer);
    nearer = within;
  }
  return time;
}

/// Gives every point of `series` samples, by the clock of big_gpu() (2 ticks a nanosecond).
inline void take_samples(std::vector<Point>& points, std::string_view series,
                         const std::function<double(double)>& time_of) {
  constexpr std::uint64_t accesses = 100'000;
  for (Point& point : points) {
    if (point.series != series) continue;
    const double ns = time_of(static_cast<double>(number(point, "working_set_bytes")));
    Sample sample{.accesses = accesses};
    sample.ticks = static_cast<std::uint64_t>(2.0 * ns * static_cast<double>(accesses));
    sample.event_ns = *sample.ticks / 2;
    sample.host_ns = *sample.ticks / 2;
    point.samples = {sample, sample, sample};
  }
}

inline void take_samples(std::vector<Point>& points, std::string_view series,
                         const std::vector<Plateau>& plateaus) {
  take_samples(points, series, [&](double size) { return time_at(plateaus, size); });
}

/// Plateaus whose knees end at 1.15 times the capacity, so that even near ones stay apart.
inline std::function<double(double)> sharp(std::vector<Plateau> plateaus) {
  return [plateaus = std::move(plateaus)](double size) {
    double time = plateaus.front().ns;
    for (std::size_t i = 1; i < plateaus.size(); ++i) {
      const double beyond = (size / plateaus[i - 1].capacity_bytes - 1.0) / 0.15;
      time += (plateaus[i].ns - plateaus[i - 1].ns) * std::clamp(beyond, 0.0, 1.0);
    }
    return time;
  };
}

inline std::vector<Plateau> three_levels() {
  return {{16.0, 192.0 * 1024}, {140.0, 32.0 * 1048576}, {450.0, 0.0}};
}

inline std::vector<Point> measured(const DeviceInfo& device, const Request& request) {
  std::vector<Point> points = plan_of(device, request).points;
  take_samples(points, "global", three_levels());
  return points;
}

inline std::vector<Finding> findings_of(const Findings& found, std::string_view series,
                                        std::string_view name) {
  std::vector<Finding> chosen;
  for (const Finding& finding : found.findings) {
    if (finding.series == series && finding.name == name) chosen.push_back(finding);
  }
  return chosen;
}

}  // namespace clprobe::latency
