// SPDX-License-Identifier: Apache-2.0
// Estimation of access times from raw samples. Results depend only on the arguments, so that
// reports derive the same numbers from a run file.
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

// Memory levels of a latency curve.

/// One point of a latency curve: the working set, and the time of one access in any unit of time.
struct CurvePoint {
  double working_set_bytes{0.0};
  double latency{0.0};
};

/// Capacity of a cache in bytes, by a latency curve. `bytes` is the interpolated working set at
/// which 5 % of the accesses miss. `low` is the largest measured size that is surely smaller than
/// `bytes`. `high` is the smallest measured size at which at least half of the accesses miss, or a
/// smaller size that is surely beyond the cache.
struct Capacity {
  double bytes{0.0};
  double low{0.0};
  double high{0.0};
};

/// One plateau of a latency curve.
struct Level {
  double latency{0.0};  ///< median of the plateau, in the curve's unit
  /// 95 % interval of the median, widened to include the median latencies of the smaller and of the
  /// larger half of the sizes.
  Interval latency_interval{};
  Interval spread{};  ///< from the 5 % to the 95 % quantile of the latencies
  /// Absent for the last level, unless the curve rises after that level. In that case, the next
  /// level was not reached, and `high` and `bytes` depend on the latency of the last point.
  std::optional<Capacity> capacity{};
  /// True for a gentle slope between two steep slopes, which counts as a level without a flat
  /// plateau.
  bool is_shelf{false};
};

/// Returns the levels of a latency curve, fastest first; no levels for fewer than 3 points. Splits
/// the curve into flat and sloped segments by optimal partitioning in (ln size, ln latency), and
/// selects the plateaus (docs/method.md). Accepts points in any order.
std::vector<Level> find_levels(std::span<const CurvePoint> points);

/// Returns the levels of a curve of times per byte, fastest first. A slow rise of such a curve is
/// not a level, since a part of each working set still hits the previous cache. In contrast,
/// find_levels() adds a slow rise of the latency (address translation) to a level.
std::vector<Level> find_rate_levels(std::span<const CurvePoint> points);

/// Returns the point with the smallest measured working set that is surely faster than the first of
/// `levels`. This working set belongs to a faster level without a plateau. Returns nothing without
/// such a working set or without levels.
std::optional<CurvePoint> faster_than_first(std::span<const CurvePoint> points,
                                            std::span<const Level> levels);

/// Returns additional working-set sizes, so that neighbouring sizes around each knee of the curve
/// differ by at most a factor of `ratio`. Sizes ascend and are not rounded; empty if `ratio` is not
/// above 1.
std::vector<double> sizes_around_knees(std::span<const CurvePoint> points, double ratio);

/// Cause of the latency rise between two levels. `cache_or_far`: the end of a whole cache, or of
/// the near half of a cache.
enum class StepKind { cache, cache_or_far, translation, unknown };

/// Distinguishes the end of a cache from the end of a TLB's reach by a second curve with one node
/// per page, which accesses too few lines to fill the cache. Returns `translation` if both curves
/// rise at the same range of addresses, `cache` if only the first curve rises, otherwise `unknown`.
///
/// `step_bytes` is the position of the rise in the first curve; `before` and `after` are the first
/// curve's latencies before and after the rise. The second curve needs at least 2 points from 1/4
/// to 1/1.4 of `step_bytes`, and 2 from 1.4 to 4 times `step_bytes`. Its latencies have the unit of
/// `before`; its `working_set_bytes` is the range of addresses in bytes.
StepKind classify_step(double step_bytes, double before, double after,
                       std::span<const CurvePoint> one_node_per_page);

/// Returns true if `here` and `next` may be the near and the far half of one cache. The latency of
/// `next` must be at most 3 times that of `here`, and its capacity twice that of `here`, within the
/// brackets. Without a capacity of `next`, twice `high` of `here` must exceed `largest_bytes`, the
/// largest measured size. A latency curve cannot distinguish cache halves from two caches.
bool may_be_halves(const Level& here, const Level& next, double largest_bytes);

std::string_view to_word(StepKind kind);

/// Times of a kernel in ns, grouped by visit. Load from other programs lasts longer than a visit,
/// so that the samples of one visit are not independent.
using Visits = std::vector<std::vector<double>>;

/// Returns the median of the faster half of all samples, since disturbances only increase times.
/// Requires at least one sample.
double typical_ns(const Visits& visits);

/// Returns the typical time of one bootstrap resample: as many visits as `visits` has, drawn with
/// replacement. With n visits, the distance of the result from `typical` is scaled by sqrt(n / (n -
/// 1)), which corrects the bias of few visits. With one visit, the samples of its faster half are
/// drawn instead. `typical` is the result of typical_ns().
double resampled_ns(const Visits& visits, double typical, std::mt19937_64& generator);

/// Time of one access at one point. Noise only increases times, so `ns` is the minimum of up to 8
/// samples, and the interval ends at the median. With more samples, `ns` is the second smallest
/// time on a CPU, and the lower quartile on other devices. On a CPU, the distances between the best
/// visits then determine the interval. For whole launches and points with the fact `by_median`,
/// `ns` is the median, and the interval is that of the quartiles.
struct Estimate {
  double ns{0.0};
  Interval ns_interval{};
  std::optional<double> cycles{};  ///< absent for whole launches, or if ticks are not core cycles
  /// True if the interval includes the distance between the best visits.
  bool holds_visits{false};
};

/// Facts of an imported point: the time of an access or a launch in ns; a bandwidth.
inline constexpr std::string_view imported_ns = "imported_ns";
inline constexpr std::string_view imported_bytes_per_second = "imported_bytes_per_second";

/// Returns the value of `name` as a number, whether stored as an integer or not; nothing without a
/// number.
std::optional<double> number_in(const Parameters& parameters, std::string_view name);
/// Returns the value of the parameter `name` of a point as a number; nothing without a number.
std::optional<double> number_of(const Point& point, std::string_view name);

/// Returns the timer of a point's samples. For samples of whole launches, on which many compute
/// units work, this is the point's parameter "timer". For other samples, this is the device's
/// timer.
Timer timer_of(const Point& point, const DeviceInfo& device);

/// Returns true if each sample of the point is a whole launch.
bool is_of_launches(const Point& point);

/// Returns the time of one access in each sample, in ns, by the point's timer; empty without usable
/// samples.
///
/// In-kernel clock: the ticks without the overhead of reading the clock. Events of whole launches,
/// or waiting time: the launch time divided by the accesses. Imported point: its time, or the time
/// of one byte. Other timers: a slope, which cancels the launch overhead. The slope starts at the
/// fastest sample among those with the fewest accesses. It ends at each sample with at least twice
/// as many accesses; if there is none, at each sample with more accesses.
std::vector<double> access_times_ns(const Point& point, const DeviceInfo& device);

/// Returns true if `clock.ticks_per_ns` converts times to core cycles. This holds for clocks that
/// count core cycles, and for tools that report the clock rate.
bool counts_core_cycles(const DeviceInfo& device);

/// Returns the estimated time of a point; nothing without usable samples.
std::optional<Estimate> estimate(const Point& point, const DeviceInfo& device);

/// Returns the estimated time from the best visits of a point, for any timer and device, including
/// whole launches; nothing without usable samples. Suits work that other load can only slow down.
/// The estimate is the minimum of up to 8 samples, or the second smallest of more samples.
std::optional<Estimate> estimate_of_best(const Point& point, const DeviceInfo& device);

/// Returns access_times_ns() of each visit of a point, without visits that have no usable sample.
Visits access_times_by_visit_ns(const Point& point, const DeviceInfo& device);

/// Returns the estimated time of each visit of a point, in ns and in order, without visits that
/// have no estimate.
std::vector<double> visit_estimates_ns(const Point& point, const DeviceInfo& device);

/// Returns the latency curve of one series in ns, in ascending order of sizes. The curve contains
/// all points without a failure that have an estimate and a parameter "working_set_bytes".
std::vector<CurvePoint> latency_curve(std::span<const Point> points, std::string_view series,
                                      const DeviceInfo& device);

// Values of curves without a plateau. The value is that of the largest size, which the method
// names.

/// First word of the method of a finding without a plateau: "at 1 GiB". The finding's reason states
/// why there is no plateau.
inline constexpr std::string_view at_one_size = "at ";

inline bool is_at_one_size(const Finding& finding) {
  const std::string& method = finding.method;
  const bool names_size = method.starts_with(at_one_size) && method.size() > at_one_size.size() &&
                          std::isdigit(static_cast<unsigned char>(method[at_one_size.size()])) != 0;
  return finding.value && !finding.level && names_size;
}

/// Returns the method and the reason of a finding without a plateau: "at 1 GiB (one size; no
/// plateau)". Advice after a colon in the reason is omitted.
inline std::string one_size_text(const Finding& finding) {
  return fmt::format("{} ({})", finding.method, finding.reason.substr(0, finding.reason.find(':')));
}

/// Returns the larger distance of `low` and `high` from `value`, in percent of `value`: "±0.4%".
inline std::string spread_text(double value, double low, double high) {
  const double percent = 100.0 * std::fabs(std::max(value - low, high - value) / value);
  if (percent < 0.05) return "±<0.1%";
  return fmt::format("±{:.{}f}%", percent, percent < 9.95 ? 1 : 0);
}

}  // namespace clprobe
