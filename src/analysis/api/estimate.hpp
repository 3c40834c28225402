// SPDX-License-Identifier: Apache-2.0
// From raw samples to the time of one access. Pure, so that reports derive the same numbers from a
// file.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

// Memory levels from a latency curve.

/// One point of a latency curve: the working set, and the time of one access in any unit.
struct CurvePoint {
  double working_set_bytes{0.0};
  double latency{0.0};
};

/// A capacity as a pointer chase measures it. `bytes` is the interpolated working set at which 5 %
/// of the accesses miss. `low` is the last measured size surely below it, `high` the first measured
/// size at which at least half of the accesses miss.
struct Capacity {
  double bytes{0.0};
  double low{0.0};
  double high{0.0};
};

/// One plateau of the curve, nearest first.
struct Level {
  double latency{0.0};  ///< median of the plateau, in the curve's unit
  /// 95 % interval, which includes the medians of both halves of the points.
  Interval latency_interval{};
  Interval spread{};  ///< 5 % and 95 % quantile of the points
  /// Absent for the last level, unless the curve rises after the level. `high` and `bytes` then
  /// depend on the last point's latency, which is below that of the next level.
  std::optional<Capacity> capacity{};
  /// True for a gentle slope between two steep ones instead of a flat plateau.
  bool is_shelf{false};
};

/// Returns the levels of a latency curve, nearest first. Splits the curve into flat and sloped
/// segments by optimal partitioning in (ln size, ln latency), and selects the plateaus
/// (docs/method.md). Accepts points in any order; returns no levels for fewer than 3.
std::vector<Level> find_levels(std::span<const CurvePoint> points);

/// Returns the levels of a curve of times per byte. A slow rise of such a curve is no level, since
/// a part of each working set hits a nearer cache. In find_levels(), a slow rise of the latency
/// (translation) belongs to a level.
std::vector<Level> find_rate_levels(std::span<const CurvePoint> points);

/// Returns the smallest measured working set that is surely faster than the first of `levels`: it
/// belongs to a nearer level without a plateau. Returns nothing without such a set or without
/// levels.
std::optional<CurvePoint> faster_than_first(std::span<const CurvePoint> points,
                                            std::span<const Level> levels);

/// Returns the working-set sizes to add so that neighbouring sizes around each knee of the curve
/// are at most a factor of `ratio` apart. Ascending, not rounded; empty if `ratio` is not above 1.
std::vector<double> sizes_around_knees(std::span<const CurvePoint> points, double ratio);

/// Cause of the rise in latency between two levels. `cache_or_far`: the end of a cache, or of its
/// near half.
enum class StepKind { cache, cache_or_far, translation, unknown };

/// Distinguishes the end of a cache from that of a TLB by a second curve with one node per page. A
/// step of both curves at the same footprint is TLB reach, since the second curve accesses far
/// fewer lines.
///
/// `step_bytes` is the position of the rise in the first curve; `before` and `after` are its
/// latencies. The second curve needs 2 points from 1/4 to 1/1.4 of that size and 2 from 1.4 to 4
/// times the size, in the same unit, with `working_set_bytes` as the bytes spanned.
StepKind classify_step(double step_bytes, double before, double after,
                       std::span<const CurvePoint> one_node_per_page);

/// Returns true if a level and the next one may be the near and the far half of one cache. The next
/// level then ends at twice the size, within the brackets, or beyond `largest_bytes`, the largest
/// working set. Its latency is at most 3 times as long. A curve cannot distinguish such halves from
/// two caches.
bool may_be_halves(const Level& here, const Level& next, double largest_bytes);

std::string_view to_word(StepKind kind);

/// Times of a kernel in ns, grouped by visit. Other load of the host lasts longer than a visit, so
/// that the samples of a visit are not independent.
using Visits = std::vector<std::vector<double>>;

/// Returns the median of the faster half of all samples, since disturbances only increase times.
/// Requires at least one sample.
double typical_ns(const Visits& visits);

/// Returns the typical time of as many visits, drawn with replacement, for one resample of a
/// bootstrap. The distance from `typical`, the result of typical_ns(), is scaled by sqrt(n / (n -
/// 1)), which corrects the bias of n visits. With one visit, the samples of its faster half are
/// drawn.
double resampled_ns(const Visits& visits, double typical, std::mt19937_64& generator);

/// Time of one access at one point. With up to 8 samples, `ns` is the minimum, since noise only
/// increases times, and the interval ends at the median. With more samples, `ns` is the second
/// smallest, and the interval includes the distance between the best visits. For whole launches,
/// `ns` is the median, and the interval that of the quartiles.
struct Estimate {
  double ns{0.0};
  Interval ns_interval{};
  std::optional<double> cycles{};  ///< present if ticks are cycles of the core
  /// True if the interval includes the distance between visits.
  bool holds_visits{false};
};

/// Facts of a point that another tool measured: the time of one access, or a bandwidth.
inline constexpr std::string_view imported_ns = "imported_ns";
inline constexpr std::string_view imported_bytes_per_second = "imported_bytes_per_second";

/// Returns the value of `name` as a number, integer or not; nothing without a number.
std::optional<double> number_in(const Parameters& parameters, std::string_view name);
/// Returns a number among a point's parameters.
std::optional<double> number_of(const Point& point, std::string_view name);

/// Returns the timer of a point's samples: its parameter "timer" for samples of whole launches,
/// which many units share; otherwise the device's timer.
Timer timer_of(const Point& point, const DeviceInfo& device);

/// Returns true if the point's samples are whole launches.
bool is_of_launches(const Point& point);

/// Returns the time of one access in each sample, in ns, by the point's timer.
///
/// A clock: ticks minus the overhead of reading the clock. Events of a launch: the launch's time.
/// An imported point: its one time. Other timers: the slope from the fastest of the samples with
/// the fewest accesses, which cancels the launch overhead, for each sample with at least twice as
/// many accesses, or with more if there are none. Empty for unusable samples.
std::vector<double> access_times_ns(const Point& point, const DeviceInfo& device);

/// Returns true if `clock.ticks_per_ns` converts times to cycles of the device's core: for clocks
/// that count such cycles, and for tools that report the clock rate.
bool counts_core_cycles(const DeviceInfo& device);

/// Returns the estimated time of a point; nothing without usable samples.
std::optional<Estimate> estimate(const Point& point, const DeviceInfo& device);

/// Returns the estimated time from the best visits of a point, for any timer and device, including
/// whole launches. For work that other load can only slow down: the minimum, or of more than 8
/// samples the second smallest.
std::optional<Estimate> estimate_of_best(const Point& point, const DeviceInfo& device);

/// Returns the time of one access in each sample, as access_times_ns(), by visit. Visits without a
/// time are left out.
Visits access_times_by_visit_ns(const Point& point, const DeviceInfo& device);

/// Returns the estimates of a point's visits in ns and in order, without visits that have none.
std::vector<double> visit_estimates_ns(const Point& point, const DeviceInfo& device);

/// Returns the curve of one series in ns: all points with an estimate, by the parameter
/// "working_set_bytes".
std::vector<CurvePoint> latency_curve(std::span<const Point> points, std::string_view series,
                                      const DeviceInfo& device);

// The value of a curve without a plateau: that of its largest size, which the method names.

/// First word of the method of such a finding: "at 1 GiB". Its reason states why there is no
/// plateau.
inline constexpr std::string_view at_one_size = "at ";

inline bool is_at_one_size(const Finding& finding) {
  const std::string& method = finding.method;
  const bool names_size = method.starts_with(at_one_size) && method.size() > at_one_size.size() &&
                          std::isdigit(static_cast<unsigned char>(method[at_one_size.size()])) != 0;
  return finding.value && !finding.level && names_size;
}

/// Returns "at 1 GiB (one size; no plateau)", without the advice of the reason.
inline std::string one_size_text(const Finding& finding) {
  return fmt::format("{} ({})", finding.method, finding.reason.substr(0, finding.reason.find(':')));
}

/// Returns the wider side of an interval as a share of the value: "±0.4%".
inline std::string spread_text(double value, double low, double high) {
  const double percent = 100.0 * std::fabs(std::max(value - low, high - value) / value);
  if (percent < 0.05) return "±<0.1%";
  return fmt::format("±{:.{}f}%", percent, percent < 9.95 ? 1 : 0);
}

}  // namespace clprobe
