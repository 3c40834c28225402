// SPDX-License-Identifier: Apache-2.0
// Loads in flight from throughput and latency, without a jump in a curve. Little's law: the mean
// number in flight is the rate of loads times the latency of each. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"

namespace clprobe::inflight {

/// Rate of loads at a number of concurrent loads (chains of all work-items).
struct ThroughputPoint {
  double requested{0.0};     ///< concurrent loads
  double rate{0.0};          ///< loads per unit of time
  Interval rate_interval{};  ///< if high is 0, the interval is unknown and the rate itself is used
};

struct ThroughputCurve {
  /// Latency of a single load, in the time unit of the rates. If 0, the point with the fewest
  /// concurrent loads gives the latency.
  double latency{0.0};
  std::vector<ThroughputPoint> points{};
};

/// Fit of a throughput curve. Beyond the knee, more concurrent loads do not raise the rate.
struct Saturation {
  double latency{0.0};
  Interval latency_interval{};
  double max_rate{0.0};  ///< limit of the rate for any number of concurrent loads
  Interval max_rate_interval{};
  /// Loads in flight at the knee, max_rate x latency. If the knee is not reached, a lower bound
  /// from the point with the most concurrent loads.
  double knee{0.0};
  Interval knee_interval{};
  double exponent{0.0};  ///< sharpness of the knee
  bool is_reached{false};
  std::string reason{};  ///< reason why the knee is not reached
};

/// Fits 1/rate^p = (latency/requested)^p + 1/max_rate^p in logarithms, with p from 1 to 16 and
/// 95 % intervals. On a CPU the points are numbers of chains of one work-item, and the knee is the
/// number of outstanding misses of a core. Returns nothing with fewer than 3 usable points.
std::optional<Saturation> fit_saturation(const ThroughputCurve& curve);

/// Limit of the throughput of a compute unit: the number of loads in flight (`capacity`), their
/// rate (`port`), or neither, because both change with the latency (`different`).
enum class ThroughputLimit { capacity, port, different, unknown };

std::string_view to_word(ThroughputLimit limit);

struct TwoLatencyTest {
  ThroughputLimit limit{ThroughputLimit::unknown};
  std::optional<double> capacity{};  ///< loads in flight if `limit` is capacity
  std::optional<Interval> capacity_interval{};
  Interval min_capacity_interval{};  ///< interval of the lower bound of the capacity; always set
  std::string reason{};
};

/// Compares chains of one kernel in two memories. Equal knees show a capacity. Equal rates show a
/// port or bandwidth; the larger knee is then a lower bound of the capacity. The limit is unknown
/// if the latencies differ by less than a factor of 1.5 or a knee was not reached.
TwoLatencyTest compare_latencies(const Saturation& near, const Saturation& far);

/// Bandwidth of streams, and latency of a pointer chase at the same time.
struct LoadedPoint {
  double bytes_per_second{0.0};
  double latency_s{0.0};
  /// Intervals of both values; {0, 0}: unknown.
  Interval rate_interval{};
  Interval latency_interval{};
};

struct Parallelism {
  double requests{
      0.0};  ///< requests in flight at the knee, where the latency is twice the idle latency
  /// Interval of `requests`. The low end uses the low ends of the knee's bandwidth and of the idle
  /// latency; no request takes less time. The high end uses the high ends of the first point after
  /// the knee.
  Interval requests_interval{};
  double per_compute_unit{0.0};
  Interval per_compute_unit_interval{};
  double knee_bytes_per_second{0.0};
  Interval knee_interval{};  ///< bandwidths of the points before and after the knee
  bool is_knee_reached{false};
  std::string reason{};  ///< reason why `requests` is a lower bound
};

/// Finds the memory-level parallelism at the knee. If `idle_latency_s` is 0, the latency at the
/// lowest bandwidth replaces it. `idle_interval` is {0, 0} if unknown. Returns nothing if no point
/// moves bytes. Throws std::invalid_argument if `request_bytes` or `compute_units` is not positive.
std::optional<Parallelism> find_parallelism(std::span<const LoadedPoint> points,
                                            double idle_latency_s, double request_bytes,
                                            int compute_units, const Interval& idle_interval = {});

}  // namespace clprobe::inflight
