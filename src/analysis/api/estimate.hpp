// SPDX-License-Identifier: Apache-2.0
// From raw samples to the time of one access. Pure: reports make the same numbers from a file.
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

/// A capacity as a pointer chase sees it: `bytes` is the working set where 5 % of the accesses miss
/// (interpolated), `low` the last measured one that is surely before it, `high` the first measured
/// one where at least half of them miss.
struct Capacity {
  double bytes{0.0};
  double low{0.0};
  double high{0.0};
};

/// One plateau of the curve, nearest first.
struct Level {
  double latency{0.0};          ///< median of the plateau, in the curve's unit
  Interval latency_interval{};  ///< 95 %: of its points' median, and of that of each half of them
  Interval spread{};            ///< 5 % and 95 % quantile of its points
  /// Absent for the last level, unless the curve still rises behind it: then `high` and `bytes`
  /// rest on the last point's latency, which is less than that of the next level.
  std::optional<Capacity> capacity{};
  bool is_shelf{false};  ///< a gentle slope between two steep ones, no flat plateau
};

/// Splits the curve into flat and sloped pieces by optimal partitioning in (ln size, ln latency)
/// and keeps the plateaus. Source: the segmentation of docs/method.md. Points in any order; needs
/// at least 3, else no levels.
std::vector<Level> find_levels(std::span<const CurvePoint> points);

/// Finds levels as `find_levels` does, from times of a byte. Where these rise slowly, a part of
/// each working set hits a nearer cache: that is no level, while a latency that creeps
/// (translation) is one.
std::vector<Level> find_rate_levels(std::span<const CurvePoint> points);

/// The smallest of the measured working sets that is surely faster than the first of `levels`,
/// where there is one: then a nearer level was measured and has no plateau. None without levels.
std::optional<CurvePoint> faster_than_first(std::span<const CurvePoint> points,
                                            std::span<const Level> levels);

/// Working-set sizes that should be added so that neighbouring sizes are at most `ratio` apart
/// around every knee of the curve, rising. Not rounded; none when `ratio` is not above 1.
std::vector<double> sizes_around_knees(std::span<const CurvePoint> points, double ratio);

/// Cause of the rise in latency from one level to the next. `cache_or_far`: a cache ends, or only
/// the near half of one.
enum class StepKind { cache, cache_or_far, translation, unknown };

/// Tells a cache from a translation (TLB) step by a second curve with one node per page: a step at
/// the same byte footprint although far fewer lines are touched is translation reach.
/// `step_bytes` is where the rise of the first curve lies; `before` and `after` its latencies. The
/// second curve needs 2 points from 1/4 to 1/1.4 of that size and 2 from 1.4 to 4 times it, in the
/// same unit, with `working_set_bytes` as the bytes spanned, not the bytes touched.
StepKind classify_step(double step_bytes, double before, double after,
                       std::span<const CurvePoint> one_node_per_page);

/// True if a level and the next one may be the near and the far half of one cache: then the next
/// one ends at twice the size, within the brackets, or beyond `largest_bytes`, the largest working
/// set, and takes at most 3 times as long. A curve alone cannot tell such halves from two caches.
bool may_be_halves(const Level& here, const Level& next, double largest_bytes);

std::string_view to_word(StepKind kind);

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
/// For whole launches, `ns` is the median, and the interval that of the quartiles.
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

// The value of a curve that has no plateau: that of its largest size, which the method names. Pure.

/// Begins the method of such a finding: "at 1 GiB". Its reason says why there is no plateau.
inline constexpr std::string_view at_one_size = "at ";

inline bool is_at_one_size(const Finding& finding) {
  const std::string& method = finding.method;
  const bool names_size = method.starts_with(at_one_size) && method.size() > at_one_size.size() &&
                          std::isdigit(static_cast<unsigned char>(method[at_one_size.size()])) != 0;
  return finding.value && !finding.level && names_size;
}

/// "at 1 GiB (one size; no plateau)": the advice in the reason is left out.
inline std::string one_size_text(const Finding& finding) {
  return fmt::format("{} ({})", finding.method, finding.reason.substr(0, finding.reason.find(':')));
}

/// The wider side of an interval as a share of the value: "±0.4%".
inline std::string spread_text(double value, double low, double high) {
  const double percent = 100.0 * std::fabs(std::max(value - low, high - value) / value);
  if (percent < 0.05) return "±<0.1%";
  return fmt::format("±{:.{}f}%", percent, percent < 9.95 ? 1 : 0);
}

}  // namespace clprobe
