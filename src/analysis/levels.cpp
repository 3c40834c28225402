// SPDX-License-Identifier: Apache-2.0
#include "analysis/api/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "analysis/segmentation.hpp"

namespace clprobe {
namespace {

using analysis::LogCurve;
using analysis::min_ratio;
using analysis::min_sigma;
using analysis::Plateau;
using analysis::Segment;
using analysis::SegmentKind;
using analysis::SlowRise;

// Minimum height of a spike: 5 sigma, and at least 5 % of the latency.
constexpr double spike_sigmas = 5.0;
constexpr double min_spike = 0.05;

// Limits for the rise of a curve above a level. Below `max_stay`, the point may still belong to the
// level. Above `surely_left`, the point surely belongs to another level. The limits hold for any
// latency of the next level.
constexpr double max_stay = 0.182;     // ln 1.2
constexpr double surely_left = 0.223;  // ln 1.25
constexpr double knee_span = 1.1;      // ln 3
constexpr double sparse_step = 0.41;   // ln 1.5
constexpr double twice = 0.693;        // ln 2

/// Returns the last segment of the plateau, without the foot of the knee that follows. A short last
/// segment belongs to the knee if it begins more than 5 % of the step above its predecessor.
const Segment& last_true_member(const LogCurve& curve, const Plateau& plateau, double next_y) {
  std::size_t i = plateau.members.size() - 1;
  while (i > 0) {
    const Segment& member = plateau.members[i];
    const double before = std::exp(plateau.members[i - 1].y_last);
    const double miss = (std::exp(member.y_first) - before) / (std::exp(next_y) - before);
    if (miss <= 0.05 || span_of(curve, member) >= 0.5) break;
    --i;
  }
  return plateau.members[i];
}

/// Returns the size with this logarithm as whole bytes: exp(ln 2944) is 2943.9999999999977.
double whole_size(double x) { return std::round(std::exp(x)); }

double median_of_range(const LogCurve& curve, std::size_t first, std::size_t last) {
  return median(std::span(curve.y).subspan(first, last - first + 1));
}

/// Returns ln latency of a hit at the end of the plateau. For a slowly rising plateau, the result
/// is the height of the plateau's line at 75 % of its length. The foot of the knee raises the end
/// of the line.
double hit_height(const LogCurve& curve, const Segment& core) {
  if (core.kind == SegmentKind::flat) return median_of_range(curve, core.first, core.last);
  return core.y_first + 0.75 * (core.y_last - core.y_first);
}

/// Returns the capacity of the level if a miss costs exp(`next_y`). `rising` is the monotone form
/// of the curve, which crosses each threshold only once.
Capacity find_capacity(const LogCurve& curve, const LogCurve& rising, const Plateau& plateau,
                       double next_y, double sigma) {
  const Segment& core = last_true_member(curve, plateau, next_y);
  const double hit = std::exp(hit_height(curve, core));
  // If the next level begins with a bump or a slow rise, the step can be almost 0. The minimum
  // keeps `cost` above 0.
  const double cost = std::max(std::exp(next_y) - hit, 0.05 * hit);
  const auto misses = [&](std::size_t i) { return (std::exp(rising.y[i]) - hit) / cost; };

  std::size_t high = core.first;
  while (high + 1 < curve.x.size() && misses(high) < 0.5) ++high;
  std::size_t below = high;
  while (below > core.first && misses(below) > 0.05) --below;
  double x = curve.x[below];
  if (below < high) {
    const double rise = misses(below + 1) - misses(below);
    const double share = rise > 0.0 ? std::clamp((0.05 - misses(below)) / rise, 0.0, 1.0) : 0.0;
    x += share * (curve.x[below + 1] - curve.x[below]);
  }
  // Noise moves the crossing by the noise divided by the slope of the foot, which is about a third
  // of the knee's slope. The margin is two standard deviations of the mean of a few points.
  const double steepness = 0.45 / std::max(curve.x[high] - x, 1e-9);
  const double margin = 3.0 * sigma * hit / cost / steepness;
  std::size_t low = below;
  while (low > core.first && curve.x[low] > x - margin) --low;
  // A level between this level and the next one may be missing, so that a miss costs less than
  // exp(`next_y`). In that case, the heights of the curve limit the capacity.
  const double base = std::min(hit_height(curve, core), height(curve, plateau));
  while (low > plateau.first() && rising.y[low] > base + max_stay - sigma) --low;
  std::size_t left = core.first;
  while (left + 1 < curve.x.size() && rising.y[left] <= base + surely_left) ++left;
  while (high > left && curve.x[high] > curve.x[left] + knee_span) --high;
  // With a coarse grid of sizes, the first size that takes twice as long is beyond the level.
  const bool is_beyond = left > low && curve.x[left] - curve.x[left - 1] > sparse_step &&
                         rising.y[left] > base + twice;
  if (is_beyond) high = std::min(high, left--);
  x = std::clamp(x, curve.x[low], std::max(curve.x[low], curve.x[std::min(left, high)]));
  return {whole_size(x), whole_size(curve.x[low]), whole_size(curve.x[high])};
}

double first_height(const LogCurve& curve, const Plateau& plateau) {
  constexpr std::size_t near = 8;
  const Segment& member = plateau.members.front();
  return median_of_range(curve, member.first, std::min(member.last, member.first + near - 1));
}

/// Returns the 95 % interval for the level's latency in another run. If latencies rise with the
/// working set, the median depends on how many points the level happens to contain. The interval
/// therefore includes the medians of both halves of the points.
Interval interval_of(std::span<const double> values) {
  const std::size_t half = (values.size() + 1) / 2;
  const Interval sampling = median_interval(values);
  const auto [low, high] = std::minmax({median(values.first(half)), median(values.last(half))});
  return {std::min(sampling.low, low), std::max(sampling.high, high)};
}

Level to_level(const LogCurve& curve, const Plateau& plateau) {
  std::vector<double> values = latencies(curve, plateau);
  for (double& value : values) value = std::exp(value);
  Level level;
  level.latency = median(values);
  level.latency_interval = interval_of(values);
  level.spread = {quantile(values, 0.05), quantile(values, 0.95)};
  level.is_shelf = plateau.is_shelf;
  return level;
}

/// A latency curve without outliers, and the noise of this curve.
struct CleanCurve {
  LogCurve curve{};
  double sigma{0.0};
};

CleanCurve clean(std::span<const CurvePoint> points, SlowRise slow) {
  const LogCurve raw = analysis::to_log_curve(points);
  if (raw.x.size() < 3) return {raw, min_sigma};
  const double raw_sigma = analysis::noise_of(raw);
  CleanCurve result;
  const double min_height = std::max(min_spike, spike_sigmas * raw_sigma);
  // Dips are removed for find_rate_levels() and faster_than_first(). In other curves they stay:
  // latencies on disturbed hosts scatter so much that a dip may be the true level.
  result.curve = slow == SlowRise::no_level ? analysis::without_dips(raw, min_height) : raw;
  result.curve = analysis::without_spikes(result.curve, min_height);
  result.sigma = std::max(min_sigma, analysis::noise_of(result.curve));
  return result;
}

std::vector<Level> levels_of(std::span<const CurvePoint> points, SlowRise slow) {
  const auto [curve, sigma] = clean(points, slow);
  if (curve.x.size() < 3) return {};
  const LogCurve rising = analysis::monotone(curve);
  const std::vector<Segment> segments = analysis::partition(rising, sigma);
  const std::vector<Plateau> plateaus = analysis::find_plateaus(curve, segments, sigma, slow);
  std::vector<Level> levels;
  for (std::size_t k = 0; k < plateaus.size(); ++k) {
    // The height of a slope is the cost of a miss of the previous level.
    if (plateaus[k].is_slope) continue;
    Level level = to_level(curve, plateaus[k]);
    if (k + 1 < plateaus.size()) {
      level.capacity =
          find_capacity(curve, rising, plateaus[k], first_height(curve, plateaus[k + 1]), sigma);
    } else if (curve.y.back() - plateaus[k].members.back().y_last > min_ratio) {
      // The curve ends before the next level, so that a miss costs at least the latency of the last
      // point.
      level.capacity = find_capacity(curve, rising, plateaus[k], curve.y.back(), sigma);
    }
    levels.push_back(level);
  }
  return levels;
}

}  // namespace

std::vector<Level> find_levels(std::span<const CurvePoint> points) {
  return levels_of(points, SlowRise::one_level);
}

std::vector<Level> find_rate_levels(std::span<const CurvePoint> points) {
  return levels_of(points, SlowRise::no_level);
}

std::optional<CurvePoint> faster_than_first(std::span<const CurvePoint> points,
                                            std::span<const Level> levels) {
  if (levels.empty()) return std::nullopt;
  const auto [curve, sigma] = clean(points, SlowRise::no_level);
  const double bound = std::log(levels.front().spread.low) - min_ratio - 3.0 * sigma;
  // Clang 14 cannot capture a structured binding in a lambda by its name.
  const auto is_faster = [&values = curve.y, bound](std::size_t i) {
    return i < values.size() && values[i] < bound;
  };
  // A faster level that does not contain the smallest size needs two neighbouring points, since a
  // single faster point may be an outlier.
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (!is_faster(i) || (i > 0 && !is_faster(i + 1))) continue;
    return CurvePoint{whole_size(curve.x[i]), std::exp(curve.y[i])};
  }
  return std::nullopt;
}

std::vector<double> sizes_around_knees(std::span<const CurvePoint> points, double ratio) {
  if (!(ratio > 1.0)) return {};
  const auto [curve, sigma] = clean(points, SlowRise::one_level);
  const double min_rise = std::max(0.04, 3.0 * sigma);
  const std::size_t intervals = curve.x.empty() ? 0 : curve.x.size() - 1;
  std::vector<bool> is_knee(intervals, false);
  for (std::size_t i = 0; i < intervals; ++i) {
    if (std::abs(curve.y[i + 1] - curve.y[i]) < min_rise) continue;
    // The neighbouring intervals are included, since the foot and the shoulder of a knee determine
    // the capacity.
    const std::size_t begin = i == 0 ? 0 : i - 1;
    const std::size_t end = std::min(intervals, i + 2);
    for (std::size_t j = begin; j < end; ++j) is_knee[j] = true;
  }
  std::vector<double> sizes;
  for (std::size_t i = 0; i < intervals; ++i) {
    if (!is_knee[i]) continue;
    const double gap = curve.x[i + 1] - curve.x[i];
    // The tolerance prevents rounding errors from splitting a gap of exactly `ratio`.
    const auto parts = static_cast<int>(std::ceil(gap / std::log(ratio) - 1e-6));
    for (int part = 1; part < parts; ++part) {
      sizes.push_back(std::exp(curve.x[i] + gap * part / parts));
    }
  }
  return sizes;
}

StepKind classify_step(double step_bytes, double before, double after,
                       std::span<const CurvePoint> one_node_per_page) {
  // Range of the ratio to `step_bytes`: close enough to belong to this step, and far enough from
  // the knee.
  constexpr double nearest = 1.4;
  constexpr double farthest = 4.0;
  std::vector<double> below;
  std::vector<double> above;
  for (const CurvePoint& point : one_node_per_page) {
    const double ratio = point.working_set_bytes / step_bytes;
    if (ratio >= 1.0 / farthest && ratio <= 1.0 / nearest) below.push_back(point.latency);
    if (ratio >= nearest && ratio <= farthest) above.push_back(point.latency);
  }
  if (!(after > before) || below.size() < 2 || above.size() < 2) return StepKind::unknown;
  const double rise = (median(above) - median(below)) / (after - before);
  if (rise >= 0.5 && rise <= 2.0) return StepKind::translation;
  return rise <= 0.2 ? StepKind::cache : StepKind::unknown;
}

bool may_be_halves(const Level& here, const Level& next, double largest_bytes) {
  // The latency of the far half is 1.8 to 2 times that of the near half on NVIDIA's A100 to H200.
  constexpr double max_ratio = 3.0;
  if (!here.capacity || next.latency > max_ratio * here.latency) return false;
  // Without a capacity of `next`, the measured sizes must end before the whole cache does.
  if (!next.capacity) return largest_bytes < 2.0 * here.capacity->high;
  return next.capacity->low <= 2.0 * here.capacity->high &&
         next.capacity->high >= 2.0 * here.capacity->low;
}

std::string_view to_word(StepKind kind) {
  constexpr std::array<std::string_view, 4> kinds{"cache", "cache-or-far", "translation",
                                                  "unknown"};
  return kinds.at(static_cast<std::size_t>(kind));
}

}  // namespace clprobe
