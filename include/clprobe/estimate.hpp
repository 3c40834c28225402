// SPDX-License-Identifier: Apache-2.0
// From raw samples to the time of one access. Pure: reports make the same numbers from a file.
#pragma once

#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/levels.hpp"
#include "clprobe/run.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {

/// Times of a kernel, by the visits in which it was timed: times in ns, those of one visit
/// together. What else a host does lasts longer than a visit and disturbs all of it, so that the
/// samples of one visit are no independent ones.
using Visits = std::vector<std::vector<double>>;

/// The median of the faster half of all samples: disturbances only add. There must be one sample.
double typical_ns(const Visits& visits);

/// Typical time of as many visits, drawn with replacement: one turn of a bootstrap. It is moved
/// away from `typical`, which is `typical_ns(visits)`, by the root of n / (n - 1): of n visits,
/// which are two or three, a bootstrap shows too little by that. Of one visit the faster half of
/// its samples is drawn from.
double resampled_ns(const Visits& visits, double typical, std::mt19937_64& generator);

/// Time of one access at one point. `ns` is the least of up to 8 samples (noise only adds), and the
/// interval runs from there to the median. Of more it is the least but one, which no lucky clock
/// read decides, and the interval is of how far the best visits are from each other.
/// Of whole launches, it is the median, between the quartiles.
struct Estimate {
  double ns{0.0};
  Interval ns_interval{};
  std::optional<double> cycles{};  ///< where ticks are cycles of the core
  /// True if the interval holds how far visits are from each other.
  bool holds_visits{false};
};

/// Facts of a point that another tool measured: the time of one access, and a bandwidth.
inline constexpr std::string_view imported_ns = "imported_ns";
inline constexpr std::string_view imported_bytes_per_second = "imported_bytes_per_second";

/// The value called `name` as a number, integer or not; nothing where there is none.
std::optional<double> number_in(const Parameters& parameters, std::string_view name);
/// Returns a number among a point's parameters.
std::optional<double> number_of(const Point& point, std::string_view name);

/// Returns the timer of a point's samples: its parameter "timer" ("event" or "host"), for points
/// whose samples are whole launches, which many units share; else the device's timer.
Timer timer_of(const Point& point, const DeviceInfo& device);

/// True if the point's samples are whole launches.
bool is_of_launches(const Point& point);

/// The time of one access in each sample, in ns, by the point's timer. With a clock: ticks less
/// the empty clock pair. Else the slope from the fastest of the samples with the fewest accesses,
/// which cancels the launch; one value for each sample with at least twice as many (with any more,
/// where there are none), so that here, too, noise only adds. By events, a whole launch is its own
/// time. Of an imported run, the one time that its tool gave. Empty when the samples do not allow
/// it.
std::vector<double> access_times_ns(const Point& point, const DeviceInfo& device);

/// True if times are cycles of the device's core as well, at `clock.ticks_per_ns`: its ticks are,
/// or another tool gave its clock.
bool counts_core_cycles(const DeviceInfo& device);

/// Estimates the time of a point; nothing if it has no usable samples.
std::optional<Estimate> estimate(const Point& point, const DeviceInfo& device);

/// Estimates the time by the best visits of a point, however it was timed and of whatever device:
/// of work to whose time others can only add, whole launches, too. The least, or of more than 8
/// samples the least but one.
std::optional<Estimate> estimate_of_best(const Point& point, const DeviceInfo& device);

/// The time of one access in each sample, as `access_times_ns`, by visit; visits that have none are
/// left out.
Visits access_times_by_visit_ns(const Point& point, const DeviceInfo& device);

/// Estimates of the point's visits in ns, in their order, without visits that have none.
std::vector<double> visit_estimates_ns(const Point& point, const DeviceInfo& device);

/// The curve of one series: every point of it that has an estimate, by working set (the parameter
/// "working_set_bytes"), in ns.
std::vector<CurvePoint> latency_curve(std::span<const Point> points, std::string_view series,
                                      const DeviceInfo& device);

}  // namespace clprobe
