// SPDX-License-Identifier: Apache-2.0
#include "analysis/plateaus.hpp"

#include <algorithm>
#include <cmath>

#include "clprobe/statistics.hpp"

namespace clprobe::analysis {
namespace {

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
constexpr double creep_slope = 0.2;

/// Root mean square distance of a segment's points from a line that has the height `y_first` there.
double scatter_around(const LogCurve& curve, const Segment& segment, double y_first, double slope) {
  double sum = 0.0;
  for (std::size_t i = segment.first; i <= segment.last; ++i) {
    const double line = y_first + slope * (curve.x[i] - curve.x[segment.first]);
    sum += (curve.y[i] - line) * (curve.y[i] - line);
  }
  return std::sqrt(sum / static_cast<double>(segment.count()));
}

/// The line through the measured points of a segment.
Line line_of(const LogCurve& curve, const Segment& segment) {
  return fit_least_squares(std::span(curve.x).subspan(segment.first, segment.count()),
                           std::span(curve.y).subspan(segment.first, segment.count()));
}

/// Slope of the measured points of a segment, and its standard error at noise `sigma`.
struct Slope {
  double value{0.0};
  double error{0.0};
};

Slope slope_of(const LogCurve& curve, const Segment& segment, double sigma) {
  if (segment.count() < 2) return {};
  const auto x = std::span(curve.x).subspan(segment.first, segment.count());
  double mean_x = 0.0;
  for (const double value : x) mean_x += value / static_cast<double>(x.size());
  double xx = 0.0;
  for (const double value : x) xx += (value - mean_x) * (value - mean_x);
  return {line_of(curve, segment).slope, sigma / std::sqrt(xx)};
}

/// The noise of a segment's points around their line, and never more than `sigma`, the curve's: a
/// host that others disturb may have three times as much in its memory as in its caches. Of few
/// points nobody knows it.
double noise_of(const LogCurve& curve, const Segment& segment, double sigma) {
  constexpr std::size_t enough_points = 6;
  if (segment.count() < enough_points) return sigma;
  const Line line = line_of(curve, segment);
  const double y_first = line.intercept + line.slope * curve.x[segment.first];
  // A line takes two points; four or more are left to tell it, of which Student's distribution has
  // 1.3 times the error.
  constexpr double few_points = 1.3;
  const auto count = static_cast<double>(segment.count());
  const double own = few_points * scatter_around(curve, segment, y_first, line.slope) *
                     std::sqrt(count / (count - 2.0));
  return std::clamp(own, min_sigma, sigma);
}

/// Shoulders and feet of soft knees look like plateaus of a few points where there is noise, so a
/// plateau must be seen to be flat: 95 % sure that its slope is below `max_slope`.
bool is_surely_flat(const LogCurve& curve, const Segment& segment, double sigma) {
  const Slope slope = slope_of(curve, segment, noise_of(curve, segment, sigma));
  return std::max(0.0, slope.value) + 1.645 * slope.error <= max_slope;
}

bool is_plateau(const LogCurve& curve, const Segment& segment, double sigma) {
  const double span = span_of(curve, segment);
  const double scatter = scatter_around(curve, segment, segment.y_first, segment.slope);
  if (span < min_span || scatter > max_scatter) return false;
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

/// With the points before it that are as high as it is: of few points the one where a ramp ends is
/// as well a part of the ramp.
Segment with_end_of_ramp(const LogCurve& curve, const Plateau& plateau, double sigma) {
  Segment whole{.first = plateau.first(), .last = plateau.last()};
  const double level = height(curve, plateau);
  while (whole.first > 0 && std::abs(curve.y[whole.first - 1] - level) < sigma) --whole.first;
  return whole;
}

Side side_of(const LogCurve& curve, const Segment& whole, double sigma) {
  const Line line = line_of(curve, whole);
  return {slope_of(curve, whole, sigma), line.intercept + line.slope * curve.x[whole.first],
          line.intercept + line.slope * curve.x[whole.last]};
}

/// A slow step, as from an AMD GPU's cache to its memory, and no creep: on both sides the curve is
/// flat over a factor of 2.7, and surely much flatter than in between.
bool is_slow_step(const LogCurve& curve, const Plateau& a, const Plateau& b, double sigma) {
  constexpr double min_span_of_side = 1.0;
  constexpr double min_contrast = 4.0;
  const Segment near{.first = a.first(), .last = a.last()};
  const Segment far = with_end_of_ramp(curve, b, sigma);
  if (far.first <= near.last) return false;
  if (std::min(span_of(curve, near), span_of(curve, far)) < min_span_of_side) return false;
  const Side before = side_of(curve, near, sigma);
  const Side after = side_of(curve, far, sigma);
  const double rise = after.y_first - before.y_last;
  const double steepness = rise / (curve.x[far.first] - curve.x[near.last]);
  const auto is_flat = [&](const Side& side) {
    return min_contrast * (std::abs(side.slope.value) + 1.645 * side.slope.error) <= steepness;
  };
  // The end of a fitted line is known to twice the error of its mean.
  const auto points = [](const Segment& side) { return static_cast<double>(side.count()); };
  const double error = 2.0 * sigma * std::sqrt(1.0 / points(near) + 1.0 / points(far));
  return rise > min_ratio + 1.645 * error && is_flat(before) && is_flat(after);
}

/// The steepest slope from a plateau to the next one, over a factor of 2 in size or more, by the
/// lines through the segments. Between neighbouring sizes farther apart the rise may be a step.
double steepest_between(const LogCurve& curve, std::span<const Segment> segments, const Plateau& a,
                        const Plateau& b) {
  constexpr double window = 0.68;
  std::vector<double> y(curve.x.size());
  for (const Segment& each : segments) {
    for (std::size_t i = each.first; i <= each.last; ++i) {
      y[i] = each.y_first + each.slope * (curve.x[i] - curve.x[each.first]);
    }
  }
  const double min_distance = std::min(window, curve.x[b.first()] - curve.x[a.last()]);
  double steepest = 0.0;
  for (std::size_t i = a.last(); i < b.first(); ++i) {
    for (std::size_t j = i + 1; j <= b.first(); ++j) {
      double distance = curve.x[j] - curve.x[i];
      if (distance < min_distance) continue;
      if (j == i + 1) distance = std::min(distance, window);
      steepest = std::max(steepest, (y[j] - y[i]) / distance);
    }
  }
  return steepest;
}

/// Whether a cache ends after plateau `a`: it is flat over a factor of 2.7, or a knee follows.
/// Where units share a cache and each has one of its own, a part of every larger set hits the own
/// one: on H200s reads fall from 15 to 9.1 TB/s between 480 KiB and 8 MiB, with a slope of 0.1 at
/// first and of at most 0.3. Where the L2 ends it is 0.54 or more.
bool ends_before(const LogCurve& curve, std::span<const Segment> segments, const Plateau& a,
                 const Plateau& b) {
  constexpr double min_knee = 0.4;
  constexpr double min_span_of_flat = 1.0;
  const Segment whole{.first = a.first(), .last = a.last()};
  const bool is_flat =
      span_of(curve, whole) >= min_span_of_flat && line_of(curve, whole).slope <= gentle_slope;
  return is_flat || steepest_between(curve, segments, a, b) >= min_knee;
}

bool are_one_level(const LogCurve& curve, const Plateau& a, const Plateau& b, double sigma,
                   SlowRise slow) {
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
  if (rise <= min_step) return true;
  return slow == SlowRise::one_level && rise <= creep_slope * distance;
}

/// A ramp that is gentle enough to be a level, but is the slow step between two others.
bool is_between(const LogCurve& curve, std::span<const Segment> segments, std::size_t i,
                double sigma) {
  if (i == 0 || i + 1 == segments.size() || segments[i].kind != SegmentKind::ramp) return false;
  const double step = segments[i + 1].y_first - segments[i - 1].y_last;
  if (segments[i].y_last - segments[i].y_first < 0.5 * step) return false;
  return is_slow_step(curve, {{segments[i - 1]}}, {{segments[i + 1]}}, sigma);
}

}  // namespace

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

std::vector<Plateau> find_plateaus(const LogCurve& curve, std::span<const Segment> segments,
                                   double sigma, SlowRise slow) {
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
           are_one_level(curve, plateaus[plateaus.size() - 2], plateaus.back(), sigma, slow)) {
      Plateau& into = plateaus[plateaus.size() - 2];
      const Plateau& from = plateaus.back();
      into.members.insert(into.members.end(), from.members.begin(), from.members.end());
      into.is_shelf = into.is_shelf && from.is_shelf;
      plateaus.pop_back();
    }
  }
  const Plateau* next = nullptr;
  for (std::size_t i = plateaus.size(); slow == SlowRise::no_level && i-- > 0;) {
    Plateau& each = plateaus[i];
    each.is_slope = next != nullptr && !ends_before(curve, segments, each, *next);
    if (!each.is_slope) next = &each;
  }
  return plateaus;
}

}  // namespace clprobe::analysis
