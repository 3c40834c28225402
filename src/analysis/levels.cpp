// SPDX-License-Identifier: Apache-2.0
#include "clprobe/levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "analysis/segmentation.hpp"

namespace clprobe {
namespace {

using analysis::LogCurve;
using analysis::Segment;
using analysis::SegmentKind;

// Curves are smoother than models are right: slices of a cache, sets and pages leave structure of
// about 1 %, which no further sample removes.
constexpr double min_sigma = 0.01;
// Noise is called a spike from here: 5 sigma, and never below 5 %.
constexpr double spike_sigmas = 5.0;
constexpr double min_spike = 0.05;

constexpr double min_span = 0.15;  // a plateau is at least 16 % wide in size
// A mean of points that scatter more is no level; slices and noise modes stay below it.
constexpr double max_scatter = 0.2;
constexpr double gentle_slope = 0.06;       // a ramp that may be a plateau
constexpr double long_gentle_slope = 0.13;  // 35 % over a decade: translation (TLB) creep
constexpr double long_span = 0.8;
// Where a knee approaches a level with this slope, what is left of the rise is below 10 %.
constexpr double max_slope = 0.2;
constexpr double shelf_slope = 0.35;  // an L3 that translation and sharing have smeared
constexpr double shelf_span = 0.405;  // ln 1.5
constexpr double shelf_contrast = 2.0;
constexpr double min_shelf_rise = 0.223;  // ln 1.25; less is the foot of the next knee
// Two plateaus are two levels when they differ by more than 10 % and the rise in between is
// steeper than translation creep. A cache of any policy rises from 5 % to 95 % misses within a
// factor of 3 in size.
constexpr double min_ratio = 0.0953;  // ln 1.1
constexpr double creep_slope = 0.2;
// Whatever the next level costs: here the curve has left a level, and may not have from below.
constexpr double max_stay = 0.182;     // ln 1.2
constexpr double surely_left = 0.223;  // ln 1.25
constexpr double knee_span = 1.1;      // ln 3

struct Plateau {
  std::vector<Segment> members{};
  bool is_shelf{false};

  [[nodiscard]] std::size_t first() const { return members.front().first; }
  [[nodiscard]] std::size_t last() const { return members.back().last; }
};

double span_of(const LogCurve& curve, const Segment& segment) {
  return curve.x[segment.last] - curve.x[segment.first];
}

std::vector<double> latencies(const LogCurve& curve, const Plateau& plateau) {
  std::vector<double> values;
  for (const Segment& member : plateau.members) {
    for (std::size_t i = member.first; i <= member.last; ++i) values.push_back(curve.y[i]);
  }
  return values;
}

double height(const LogCurve& curve, const Plateau& plateau) {
  return median(latencies(curve, plateau));
}

/// Root mean square distance of the points from the segment's line.
double scatter_of(const LogCurve& curve, const Segment& segment) {
  double sum = 0.0;
  for (std::size_t i = segment.first; i <= segment.last; ++i) {
    const double line = segment.y_first + segment.slope * (curve.x[i] - curve.x[segment.first]);
    sum += (curve.y[i] - line) * (curve.y[i] - line);
  }
  return std::sqrt(sum / static_cast<double>(segment.count()));
}

/// Slope of the measured points of a segment, and its standard error at noise `sigma`.
struct Slope {
  double value{0.0};
  double error{0.0};
};

Slope slope_of(const LogCurve& curve, const Segment& segment, double sigma) {
  if (segment.count() < 2) return {};
  const auto x = std::span(curve.x).subspan(segment.first, segment.count());
  const auto y = std::span(curve.y).subspan(segment.first, segment.count());
  double mean_x = 0.0;
  for (const double value : x) mean_x += value / static_cast<double>(x.size());
  double xx = 0.0;
  for (const double value : x) xx += (value - mean_x) * (value - mean_x);
  return {fit_least_squares(x, y).slope, sigma / std::sqrt(xx)};
}

/// The noise of a segment's points around their line, and never less: a host that others disturb
/// may have three times as much in its memory as in its caches. Of few points nobody knows it.
double noise_around_line(const LogCurve& curve, const Segment& segment, double sigma) {
  constexpr std::size_t enough_points = 6;
  if (segment.count() < enough_points) return sigma;
  const auto x = std::span(curve.x).subspan(segment.first, segment.count());
  const auto y = std::span(curve.y).subspan(segment.first, segment.count());
  const Line line = fit_least_squares(x, y);
  double squares = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double beside = y[i] - line.intercept - line.slope * x[i];
    squares += beside * beside;
  }
  // 4 points or more are left to tell it, of which Student's distribution has 1.3 times the error.
  constexpr double few_points = 1.3;
  const double own = few_points * std::sqrt(squares / static_cast<double>(x.size() - 2));
  return std::clamp(own, min_sigma, sigma);
}

/// Shoulders and feet of soft knees look like plateaus of a few points where there is noise, so a
/// plateau must be seen to be flat: 95 % sure that its slope is below `max_slope`.
bool is_surely_flat(const LogCurve& curve, const Segment& segment, double sigma) {
  const Slope slope = slope_of(curve, segment, noise_around_line(curve, segment, sigma));
  return std::max(0.0, slope.value) + 1.645 * slope.error <= max_slope;
}

bool is_plateau(const LogCurve& curve, const Segment& segment, double sigma) {
  const double span = span_of(curve, segment);
  if (span < min_span || scatter_of(curve, segment) > max_scatter) return false;
  if (!is_surely_flat(curve, segment, sigma)) return false;
  if (segment.kind == SegmentKind::flat) return true;
  if (segment.count() < 3) return false;
  const double slope = std::abs(segment.slope);
  return slope <= gentle_slope || (slope <= long_gentle_slope && span >= long_span);
}

enum class Towards { smaller, larger };

/// The rise per unit of ln size on the way from a segment to the next one, that one's own slope
/// included; of steps that are small, of as many as it takes to come to another level.
double steepness_beside(const LogCurve& curve, std::span<const Segment> segments, std::size_t i,
                        Towards towards) {
  const bool is_before = towards == Towards::smaller;
  const auto rise_of = [&](double here, double there) {
    return is_before ? here - there : there - here;
  };
  const double y = is_before ? segments[i].y_first : segments[i].y_last;
  const double x = curve.x[is_before ? segments[i].first : segments[i].last];
  const auto steepness = [&](double rise, std::size_t there) {
    return rise / std::abs(curve.x[there] - x);
  };
  const std::size_t count = is_before ? i : segments.size() - 1 - i;
  for (std::size_t k = 1; k <= count; ++k) {
    const Segment& other = segments[is_before ? i - k : i + k];
    const double jump = rise_of(y, is_before ? other.y_last : other.y_first);
    const double to_near = steepness(jump, is_before ? other.last : other.first);
    if (jump > min_ratio) return k == 1 ? std::max(to_near, other.slope) : to_near;
    if (k == 1 && other.y_last - other.y_first > min_ratio) return other.slope;
    const double rise = rise_of(y, is_before ? other.y_first : other.y_last);
    if (rise > min_ratio) return steepness(rise, is_before ? other.first : other.last);
  }
  return 0.0;
}

bool is_shelf(const LogCurve& curve, std::span<const Segment> segments, std::size_t i) {
  const Segment& segment = segments[i];
  if (i == 0 || i + 1 == segments.size() || segment.count() < 3) return false;
  if (segment.kind == SegmentKind::flat) return false;  // too short to be sure of
  if (segment.slope < 0.0 || segment.slope > shelf_slope) return false;
  if (span_of(curve, segment) < shelf_span) return false;
  const double before = steepness_beside(curve, segments, i, Towards::smaller);
  const double after = steepness_beside(curve, segments, i, Towards::larger);
  return std::min(before, after) >= shelf_contrast * std::max(segment.slope, gentle_slope);
}

/// The points of a plateau as a line: its slope, and its heights where it begins and ends.
struct Side {
  Slope slope{};
  double y_first{0.0};
  double y_last{0.0};
};

Side side_of(const LogCurve& curve, const Plateau& plateau, double sigma) {
  const Segment whole{.first = plateau.first(), .last = plateau.last()};
  const auto x = std::span(curve.x).subspan(whole.first, whole.count());
  const auto y = std::span(curve.y).subspan(whole.first, whole.count());
  const Line line = fit_least_squares(x, y);
  return {slope_of(curve, whole, sigma), line.intercept + line.slope * x.front(),
          line.intercept + line.slope * x.back()};
}

/// A slow step, as from an AMD GPU's cache to its memory, and no creep: on both sides the curve is
/// flat over a factor of 2.7, and surely much flatter than in between.
bool is_slow_step(const LogCurve& curve, const Plateau& a, const Plateau& b, double sigma) {
  constexpr double min_span_of_side = 1.0;
  constexpr double min_contrast = 4.0;
  const auto is_wide = [&](const Plateau& plateau) {
    return curve.x[plateau.last()] - curve.x[plateau.first()] >= min_span_of_side;
  };
  if (!is_wide(a) || !is_wide(b)) return false;
  const Side before = side_of(curve, a, sigma);
  const Side after = side_of(curve, b, sigma);
  const double rise = after.y_first - before.y_last;
  const double steepness = rise / (curve.x[b.first()] - curve.x[a.last()]);
  const auto is_flat = [&](const Side& side) {
    return min_contrast * (std::abs(side.slope.value) + 1.645 * side.slope.error) <= steepness;
  };
  // The end of a fitted line is known to twice the error of its mean.
  const auto points = [](const Plateau& plateau) {
    return static_cast<double>(plateau.last() - plateau.first() + 1);
  };
  const double error = 2.0 * sigma * std::sqrt(1.0 / points(a) + 1.0 / points(b));
  return rise > min_ratio + 1.645 * error && is_flat(before) && is_flat(after);
}

bool are_one_level(const LogCurve& curve, const Plateau& a, const Plateau& b, double sigma) {
  const double min_step = min_ratio + sigma;
  // A level is never faster than a nearer one: a fall is a disturbance within one level.
  if (height(curve, b) - height(curve, a) <= min_step) return true;
  if (a.is_shelf || b.is_shelf) return false;
  // Flat pieces of a creeping level are stairs whose height is their own slope.
  const auto creep = [&](const Segment& segment) {
    if (segment.kind == SegmentKind::ramp) return 0.0;
    const double slope = std::clamp(slope_of(curve, segment, 0.0).value, 0.0, creep_slope);
    return slope * span_of(curve, segment) / 2.0;
  };
  if (is_slow_step(curve, a, b, sigma)) return false;
  const double rise = b.members.front().y_first - a.members.back().y_last -
                      creep(a.members.back()) - creep(b.members.front());
  const double distance = curve.x[b.first()] - curve.x[a.last()];
  return rise <= min_step || rise <= creep_slope * distance;
}

/// A ramp that is gentle enough to be a level, but is the slow step between two others.
bool is_between(const LogCurve& curve, std::span<const Segment> segments, std::size_t i,
                double sigma) {
  if (i == 0 || i + 1 == segments.size() || segments[i].kind != SegmentKind::ramp) return false;
  const double step = segments[i + 1].y_first - segments[i - 1].y_last;
  if (segments[i].y_last - segments[i].y_first < 0.5 * step) return false;
  return is_slow_step(curve, {{segments[i - 1]}}, {{segments[i + 1]}}, sigma);
}

std::vector<Plateau> find_plateaus(const LogCurve& curve, std::span<const Segment> segments,
                                   double sigma) {
  std::vector<Plateau> plateaus;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (is_between(curve, segments, i, sigma)) continue;
    const bool shelf = !is_plateau(curve, segments[i], sigma) && is_shelf(curve, segments, i);
    if (!shelf && !is_plateau(curve, segments[i], sigma)) continue;
    if (shelf && (plateaus.empty() ||
                  segments[i].y_first - plateaus.back().members.back().y_last < min_shelf_rise)) {
      continue;
    }
    plateaus.push_back({{segments[i]}, shelf});
    // Pooling may make the pool one with the plateau before it, and so on.
    while (plateaus.size() >= 2 &&
           are_one_level(curve, plateaus[plateaus.size() - 2], plateaus.back(), sigma)) {
      Plateau& into = plateaus[plateaus.size() - 2];
      const Plateau& from = plateaus.back();
      into.members.insert(into.members.end(), from.members.begin(), from.members.end());
      into.is_shelf = into.is_shelf && from.is_shelf;
      plateaus.pop_back();
    }
  }
  return plateaus;
}

/// The last member that is plateau and not the foot of the knee: short members at the end that
/// already stand out by more than 5 % of the step belong to the rise.
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

double median_of_range(const LogCurve& curve, std::size_t first, std::size_t last) {
  return median(std::span(curve.y).subspan(first, last - first + 1));
}

/// ln latency of a hit where the plateau ends. Of a creeping one the line, but not at its very end,
/// which the foot of the knee lifts.
double hit_height(const LogCurve& curve, const Segment& core) {
  if (core.kind == SegmentKind::flat) return median_of_range(curve, core.first, core.last);
  return core.y_first + 0.75 * (core.y_last - core.y_first);
}

/// Where the level ends, `next_y` being what a miss costs. `rising` is the curve made monotone:
/// in it a threshold is crossed once, and noise is averaged where it matters.
Capacity find_capacity(const LogCurve& curve, const LogCurve& rising, const Plateau& plateau,
                       double next_y, double sigma) {
  const Segment& core = last_true_member(curve, plateau, next_y);
  const double hit = std::exp(hit_height(curve, core));
  // Where the next level begins with a bump or a creep the step can all but vanish at its foot.
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
  // Noise moves the crossing by itself / the steepness of the foot, which is about a third of the
  // knee's. Two standard deviations of that, averaged over a few points, are left below.
  const double steepness = 0.45 / std::max(curve.x[high] - x, 1e-9);
  const double margin = 3.0 * sigma * hit / cost / steepness;
  std::size_t low = below;
  while (low > core.first && curve.x[low] > x - margin) --low;
  // A level in between may have been lost, so that a miss costs less than `next_y` says. The curve
  // itself then tells how far the level reaches at most.
  const double base = std::min(hit_height(curve, core), height(curve, plateau));
  while (low > plateau.first() && rising.y[low] > base + max_stay - sigma) --low;
  std::size_t left = core.first;
  while (left + 1 < curve.x.size() && rising.y[left] <= base + surely_left) ++left;
  while (high > left && curve.x[high] > curve.x[left] + knee_span) --high;
  x = std::clamp(x, curve.x[low], std::max(curve.x[low], curve.x[std::min(left, high)]));
  return {std::exp(x), std::exp(curve.x[low]), std::exp(curve.x[high])};
}

double first_height(const LogCurve& curve, const Plateau& plateau) {
  constexpr std::size_t near = 8;
  const Segment& member = plateau.members.front();
  return median_of_range(curve, member.first, std::min(member.last, member.first + near - 1));
}

/// By how much another run of the same memory may differ: its points scatter by themselves, and
/// where they rise with the working set it is chance which of them the level has.
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

/// The curve without its spikes, and its noise.
struct CleanCurve {
  LogCurve curve{};
  double sigma{0.0};
};

CleanCurve clean(std::span<const CurvePoint> points) {
  const LogCurve raw = analysis::to_log_curve(points);
  if (raw.x.size() < 3) return {raw, min_sigma};
  const double raw_sigma = analysis::noise_of(raw);
  CleanCurve result;
  result.curve = analysis::without_spikes(raw, std::max(min_spike, spike_sigmas * raw_sigma));
  result.sigma = std::max(min_sigma, analysis::noise_of(result.curve));
  return result;
}

}  // namespace

std::vector<Level> find_levels(std::span<const CurvePoint> points) {
  const auto [curve, sigma] = clean(points);
  if (curve.x.size() < 3) return {};
  const LogCurve rising = analysis::monotone(curve);
  const std::vector<Segment> segments = analysis::partition(rising, sigma);
  const std::vector<Plateau> plateaus = find_plateaus(curve, segments, sigma);
  std::vector<Level> levels;
  for (std::size_t k = 0; k < plateaus.size(); ++k) {
    Level level = to_level(curve, plateaus[k]);
    if (k + 1 < plateaus.size()) {
      level.capacity =
          find_capacity(curve, rising, plateaus[k], first_height(curve, plateaus[k + 1]), sigma);
    } else if (curve.y.back() - plateaus[k].members.back().y_last > min_ratio) {
      // The next level was not reached: what a miss costs is at least the last point's latency.
      level.capacity = find_capacity(curve, rising, plateaus[k], curve.y.back(), sigma);
    }
    levels.push_back(level);
  }
  return levels;
}

std::optional<CurvePoint> faster_than_first(std::span<const CurvePoint> points,
                                            std::span<const Level> levels) {
  if (levels.empty()) return std::nullopt;
  const auto [curve, sigma] = clean(points);
  const double first = std::log(levels.front().spread.low);
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (curve.y[i] >= first - min_ratio - 3.0 * sigma) continue;
    return CurvePoint{std::exp(curve.x[i]), std::exp(curve.y[i])};
  }
  return std::nullopt;
}

std::vector<double> sizes_around_knees(std::span<const CurvePoint> points, double ratio) {
  if (!(ratio > 1.0)) return {};
  const auto [curve, sigma] = clean(points);
  const double min_rise = std::max(0.04, 3.0 * sigma);
  const std::size_t intervals = curve.x.empty() ? 0 : curve.x.size() - 1;
  std::vector<bool> is_knee(intervals, false);
  for (std::size_t i = 0; i < intervals; ++i) {
    if (std::abs(curve.y[i + 1] - curve.y[i]) < min_rise) continue;
    // The neighbours as well: the foot and the shoulder of a knee are what its capacity rests on.
    const std::size_t begin = i == 0 ? 0 : i - 1;
    const std::size_t end = std::min(intervals, i + 2);
    for (std::size_t j = begin; j < end; ++j) is_knee[j] = true;
  }
  std::vector<double> sizes;
  for (std::size_t i = 0; i < intervals; ++i) {
    if (!is_knee[i]) continue;
    const double gap = curve.x[i + 1] - curve.x[i];
    // The tolerance keeps a gap of exactly `ratio` from being halved by rounding.
    const auto parts = static_cast<int>(std::ceil(gap / std::log(ratio) - 1e-6));
    for (int part = 1; part < parts; ++part) {
      sizes.push_back(std::exp(curve.x[i] + gap * part / parts));
    }
  }
  return sizes;
}

}  // namespace clprobe
