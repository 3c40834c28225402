// SPDX-License-Identifier: Apache-2.0
// How many loads are in flight where no curve jumps: by throughput and latency, with Little's law
// (their mean number in flight = how many come in per second x how long each takes). Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"

namespace clprobe::inflight {

/// `asked` independent loads at once (chains of a work-item, or all work-items' together), and how
/// many of them are served in a unit of time.
struct ThroughputPoint {
  double asked{0.0};
  double rate{0.0};
  Interval rate_interval{};  ///< where it is not known (high is 0): the rate itself
};

struct ThroughputCurve {
  /// Latency of one load at a time, in the rates' unit of time. 0: by the point that requests
  /// least.
  double latency{0.0};
  std::vector<ThroughputPoint> points{};
};

/// Point from which on more requested loads no longer serve more.
struct Saturation {
  double latency{0.0};
  Interval latency_interval{};
  double max_rate{0.0};  ///< for ever more loads asked for
  Interval max_rate_interval{};
  /// Loads in flight where both lines meet, max_rate x latency. Where it is not reached, what was
  /// seen in flight: a lower bound, and the interval is that of the bound.
  double knee{0.0};
  Interval knee_interval{};
  double exponent{0.0};  ///< how sharp the knee is
  bool is_reached{false};
  std::string reason{};  ///< why it is not
};

/// Fits 1/rate^p = (latency/asked)^p + 1/max_rate^p in logarithms, p from 1 to 16; intervals are
/// 95 %. On a CPU the points are chains of one work-item, and the knee is the core's outstanding
/// misses. Nothing with fewer than 3 usable points.
std::optional<Saturation> fit_saturation(const ThroughputCurve& curve);

/// Cause that keeps a compute unit from serving more: the loads it can hold, or how fast they pass.
enum class ThroughputLimit { capacity, port, different, unknown };

std::string_view to_word(ThroughputLimit limit);

struct TwoLatencyTest {
  ThroughputLimit limit{ThroughputLimit::unknown};
  std::optional<double> capacity{};  ///< loads, where that is the limit
  std::optional<Interval> capacity_interval{};
  Interval min_capacity_interval{};  ///< always: its lower end is the bound, so many were in flight
  std::string reason{};
};

/// Compares one kernel on data at two distances. Equal knees: a capacity, which holds fewer loads
/// per second when each stays longer. Equal rates: a port or bandwidth, the capacity is at least
/// the larger knee. The latencies must differ by 1.5 times.
TwoLatencyTest compare_latencies(const Saturation& near, const Saturation& far);

/// Bandwidth of streams, and the latency of a chase next to them.
struct LoadedPoint {
  double bytes_per_second{0.0};
  double latency_s{0.0};
};

struct Parallelism {
  double requests{0.0};  ///< in flight at the knee, where the latency is twice the idle one
  /// From what the idle latency gives at that bandwidth (no request takes less) to what the first
  /// point behind the knee gives.
  Interval requests_interval{};
  double per_compute_unit{0.0};
  Interval per_compute_unit_interval{};
  double knee_bytes_per_second{0.0};
  Interval knee_interval{};  ///< of the bandwidth: the points on both sides of the knee
  bool is_knee_reached{false};
  std::string reason{};  ///< why it is a lower bound
};

/// Memory-level parallelism. `idle_latency_s` 0 takes the latency of the least bandwidth. Throws
/// std::invalid_argument when `request_bytes` or `compute_units` is not positive. Nothing without
/// a point that moves bytes.
std::optional<Parallelism> find_parallelism(std::span<const LoadedPoint> points,
                                            double idle_latency_s, double request_bytes,
                                            int compute_units);

}  // namespace clprobe::inflight
