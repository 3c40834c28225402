// SPDX-License-Identifier: Apache-2.0
#include "analysis/segmentation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "analysis/api/statistics.hpp"

namespace clprobe::analysis {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Two points are a flat segment only if their sizes differ by at least `nearly_octave` in x (a
// factor of 1.8), and their latencies by at most `octave_rise` in y.
constexpr double octave_rise = 0.03;
constexpr double nearly_octave = 0.6;

/// Sums of x, y and their products up to each point, with which the fit of any segment takes
/// constant time.
class PrefixSums {
 public:
  explicit PrefixSums(const LogCurve& curve) : sums_(curve.x.size() + 1) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      // Values are relative to the first point, so that the sums of squares keep their precision.
      const double x = curve.x[i] - curve.x.front();
      const double y = curve.y[i] - curve.y.front();
      const Sums& s = sums_[i];
      sums_[i + 1] = {s.x + x, s.y + y, s.xx + x * x, s.xy + x * y, s.yy + y * y};
    }
  }

  struct Fit {
    double mean_x{0.0};  ///< both means are relative to the first point of the curve
    double mean_y{0.0};
    double slope{0.0};
    double flat_residuals{0.0};  ///< sum of squares about the mean
    double ramp_residuals{0.0};  ///< sum of squares about the line
  };

  [[nodiscard]] Fit fit(std::size_t first, std::size_t last) const {
    const auto n = static_cast<double>(last - first + 1);
    const Sums& a = sums_[first];
    const Sums& b = sums_[last + 1];
    Fit fit{.mean_x = (b.x - a.x) / n, .mean_y = (b.y - a.y) / n};
    const double xx = (b.xx - a.xx) - n * fit.mean_x * fit.mean_x;
    const double xy = (b.xy - a.xy) - n * fit.mean_x * fit.mean_y;
    const double yy = (b.yy - a.yy) - n * fit.mean_y * fit.mean_y;
    fit.slope = xx > 0.0 && last > first ? xy / xx : 0.0;
    fit.flat_residuals = std::max(0.0, yy);
    fit.ramp_residuals = std::max(0.0, yy - fit.slope * xy);
    return fit;
  }

 private:
  struct Sums {
    double x{0.0};
    double y{0.0};
    double xx{0.0};
    double xy{0.0};
    double yy{0.0};
  };
  std::vector<Sums> sums_;
};

bool may_be_flat(const LogCurve& curve, std::size_t first, std::size_t last) {
  const std::size_t count = last - first + 1;
  if (count >= 3) return true;
  return count == 2 && curve.x[last] - curve.x[first] >= nearly_octave &&
         std::abs(curve.y[last] - curve.y[first]) <= octave_rise;
}

/// Last segment of the best partition of the first points of a curve.
struct Step {
  double cost{infinity};
  std::size_t first{0};
  SegmentKind kind{SegmentKind::ramp};
};

Segment make_segment(const LogCurve& curve, const PrefixSums& sums, SegmentKind kind,
                     std::size_t first, std::size_t last) {
  const PrefixSums::Fit fit = sums.fit(first, last);
  const double slope = kind == SegmentKind::flat ? 0.0 : fit.slope;
  const auto line = [&](std::size_t i) {
    return curve.y.front() + fit.mean_y + slope * (curve.x[i] - curve.x.front() - fit.mean_x);
  };
  return {kind, first, last, slope, line(first), line(last)};
}

/// Returns a curve of at most 2048 points: neighbouring points are combined to the medians of
/// groups of equal size. The limit is far above the points of a run. Larger curves would take too
/// long, since the partition's time grows with the square of the number of points.
LogCurve without_crowds(LogCurve curve) {
  constexpr std::size_t max_points = 2048;
  const std::size_t n = curve.x.size();
  if (n <= max_points) return curve;
  const std::size_t group = (n + max_points - 1) / max_points;
  LogCurve result;
  for (std::size_t first = 0; first < n; first += group) {
    const std::size_t count = std::min(group, n - first);
    result.x.push_back(median(std::span(curve.x).subspan(first, count)));
    result.y.push_back(median(std::span(curve.y).subspan(first, count)));
  }
  return result;
}

}  // namespace

LogCurve to_log_curve(std::span<const CurvePoint> curve) {
  std::vector<CurvePoint> points;
  points.reserve(curve.size());
  for (const CurvePoint& point : curve) {
    if (std::isfinite(point.working_set_bytes) && std::isfinite(point.latency) &&
        point.working_set_bytes > 0.0 && point.latency > 0.0) {
      points.push_back(point);
    }
  }
  std::ranges::sort(points, [](const CurvePoint& a, const CurvePoint& b) {
    return a.working_set_bytes != b.working_set_bytes ? a.working_set_bytes < b.working_set_bytes
                                                      : a.latency < b.latency;
  });
  LogCurve result;
  for (const CurvePoint& point : points) {
    const double x = std::log(point.working_set_bytes);
    if (!result.x.empty() && x <= result.x.back()) continue;
    result.x.push_back(x);
    result.y.push_back(std::log(point.latency));
  }
  return without_crowds(std::move(result));
}

double noise_of(const LogCurve& curve) {
  const std::size_t n = curve.x.size();
  if (n < 3) return 0.0;
  std::vector<double> residuals;
  residuals.reserve(n - 2);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double right =
        (curve.x[i] - curve.x[i - 1]) / (curve.x[i + 1] - curve.x[i - 1]);  // weight of i + 1
    const double left = 1.0 - right;
    const double residual = curve.y[i] - left * curve.y[i - 1] - right * curve.y[i + 1];
    residuals.push_back(std::abs(residual) / std::sqrt(1.0 + left * left + right * right));
  }
  // The 30 % quantile is used instead of the median, since most points of a coarse curve are next
  // to a knee. A normal deviate is within 0.3853 standard deviations with probability 0.3.
  return quantile(residuals, 0.3) / 0.3853;
}

LogCurve without_spikes(const LogCurve& curve, double min_height) {
  LogCurve kept = curve;
  for (const std::size_t width : {std::size_t{1}, std::size_t{2}}) {
    const std::size_t n = kept.x.size();
    if (n < width + 2) return kept;
    // Morphological opening: the largest of the minima over all windows of width + 1 points that
    // contain the point. After the last point, the curve is assumed to rise.
    std::vector<double> floor_of(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t end = std::min(n, i + width + 1);
      floor_of[i] = *std::min_element(kept.y.begin() + static_cast<std::ptrdiff_t>(i),
                                      kept.y.begin() + static_cast<std::ptrdiff_t>(end));
    }
    LogCurve next;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t begin = i >= width ? i - width : 0;
      const double opened =
          *std::max_element(floor_of.begin() + static_cast<std::ptrdiff_t>(begin),
                            floor_of.begin() + static_cast<std::ptrdiff_t>(i + 1));
      if (kept.y[i] - opened > min_height) continue;
      next.x.push_back(kept.x[i]);
      next.y.push_back(kept.y[i]);
    }
    kept = std::move(next);
  }
  return kept;
}

LogCurve without_dips(const LogCurve& curve, double min_height) {
  constexpr std::size_t near = 2;
  LogCurve kept;
  const std::size_t n = curve.x.size();
  for (std::size_t i = 0; i < n; ++i) {
    double lowest = i > 0 && n > near ? HUGE_VAL : curve.y[i];
    for (std::size_t j = i - std::min(i, near); j < std::min(n, i + near + 1); ++j) {
      if (j != i) lowest = std::min(lowest, curve.y[j]);
    }
    if (lowest - curve.y[i] > min_height) continue;
    kept.x.push_back(curve.x[i]);
    kept.y.push_back(curve.y[i]);
  }
  return kept;
}

LogCurve monotone(const LogCurve& curve) {
  struct Pool {
    double mean{0.0};
    std::size_t count{0};
  };
  std::vector<Pool> pools;
  for (const double y : curve.y) {
    pools.push_back({y, 1});
    while (pools.size() >= 2 && pools[pools.size() - 2].mean > pools.back().mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& into = pools.back();
      const std::size_t count = into.count + last.count;
      into.mean +=
          (last.mean - into.mean) * static_cast<double>(last.count) / static_cast<double>(count);
      into.count = count;
    }
  }
  LogCurve result{curve.x, {}};
  result.y.reserve(curve.y.size());
  for (const Pool& pool : pools) result.y.insert(result.y.end(), pool.count, pool.mean);
  return result;
}

std::vector<Segment> partition(const LogCurve& curve, double sigma) {
  const std::size_t n = curve.x.size();
  if (n == 0) return {};
  const PrefixSums sums(curve);
  const double price = std::log(static_cast<double>(n));
  const double weight = 1.0 / (sigma * sigma);
  std::vector<Step> best{{.cost = 0.0}};  // partition of no points
  for (std::size_t end = 1; end <= n; ++end) {
    Step step;
    for (std::size_t first = 0; first < end; ++first) {
      const PrefixSums::Fit fit = sums.fit(first, end - 1);
      const double ramp = best[first].cost + fit.ramp_residuals * weight + 3.0 * price;
      if (ramp < step.cost) step = {ramp, first, SegmentKind::ramp};
      const double flat = best[first].cost + fit.flat_residuals * weight + 2.0 * price;
      if (flat < step.cost && may_be_flat(curve, first, end - 1)) {
        step = {flat, first, SegmentKind::flat};
      }
    }
    best.push_back(step);
  }
  std::vector<Segment> segments;
  for (std::size_t end = n; end > 0; end = best[end].first) {
    segments.push_back(make_segment(curve, sums, best[end].kind, best[end].first, end - 1));
  }
  std::ranges::reverse(segments);
  return segments;
}

namespace {

constexpr double min_span = 0.15;  // minimum width: 16 % in size
// Maximum scatter of a level. Cache slices and modes of noise cause less scatter.
constexpr double max_scatter = 0.2;
constexpr double gentle_slope = 0.06;       // maximum slope of a plateau
constexpr double long_gentle_slope = 0.13;  // 35 % over a decade: translation (TLB) creep
constexpr double long_span = 0.8;
// A knee that approaches a level with this slope has less than 10 % of its rise left.
constexpr double max_slope = 0.2;
// Limits of a shelf, such as an L3 whose end is blurred by address translation and sharing.
constexpr double shelf_slope = 0.35;
constexpr double shelf_span = 0.405;  // ln 1.5
constexpr double shelf_contrast = 2.0;
constexpr double min_shelf_rise = 0.223;  // ln 1.25; a smaller rise is the foot of the next knee
constexpr double creep_slope = 0.2;

/// Returns the root mean square distance of a segment's points from a line of slope `slope` that
/// starts at `y_first`.
double scatter_around(const LogCurve& curve, const Segment& segment, double y_first, double slope) {
  double sum = 0.0;
  for (std::size_t i = segment.first; i <= segment.last; ++i) {
    const double line = y_first + slope * (curve.x[i] - curve.x[segment.first]);
    sum += (curve.y[i] - line) * (curve.y[i] - line);
  }
  return std::sqrt(sum / static_cast<double>(segment.count()));
}

/// Returns the least-squares line through the points of a segment.
Line line_of(const LogCurve& curve, const Segment& segment) {
  return fit_least_squares(std::span(curve.x).subspan(segment.first, segment.count()),
                           std::span(curve.y).subspan(segment.first, segment.count()));
}

/// Least-squares slope of a segment's points, and its standard error.
struct Slope {
  double value{0.0};
  double error{0.0};
};

/// `sigma`: noise of the points.
Slope slope_of(const LogCurve& curve, const Segment& segment, double sigma) {
  if (segment.count() < 2) return {};
  const auto x = std::span(curve.x).subspan(segment.first, segment.count());
  const double mean_x = mean(x);
  double xx = 0.0;
  for (const double value : x) xx += (value - mean_x) * (value - mean_x);
  return {line_of(curve, segment).slope, sigma / std::sqrt(xx)};
}

/// Returns the noise of a segment's points around their line, limited to `sigma`, the noise of the
/// whole curve. A segment can have less noise than the curve: on a disturbed host, noise in memory
/// may be three times that in caches. For fewer than six points, returns `sigma`.
double noise_of(const LogCurve& curve, const Segment& segment, double sigma) {
  constexpr std::size_t enough_points = 6;
  if (segment.count() < enough_points) return sigma;
  const Line line = line_of(curve, segment);
  const double y_first = line.intercept + line.slope * curve.x[segment.first];
  // With six points and a line of two parameters, the 95 % quantile of Student's t is 1.3 times
  // that of the normal distribution.
  constexpr double few_points = 1.3;
  const auto count = static_cast<double>(segment.count());
  const double own = few_points * scatter_around(curve, segment, y_first, line.slope) *
                     std::sqrt(count / (count - 2.0));
  return std::clamp(own, min_sigma, sigma);
}

/// Returns true if the slope is at most `max_slope` with 95 % confidence. This rejects shoulders
/// and feet of soft knees, which noise makes look like plateaus of a few points.
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

/// Returns the rise per unit of ln size from a segment to its neighbour, or the slope of the
/// neighbour if that is larger. Small steps are combined until they reach another level.
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
  // A flat segment that is no plateau is too short or too noisy for a level.
  if (segment.kind == SegmentKind::flat) return false;
  if (segment.slope < 0.0 || segment.slope > shelf_slope) return false;
  if (span_of(curve, segment) < shelf_span) return false;
  const double before = steepness_beside(curve, segments, i, Towards::smaller);
  const double after = steepness_beside(curve, segments, i, Towards::larger);
  return std::min(before, after) >= shelf_contrast * std::max(segment.slope, gentle_slope);
}

/// Line through the points of a plateau: slope, and heights at both ends.
struct Side {
  Slope slope{};
  double y_first{0.0};
  double y_last{0.0};
};

Side side_of(const LogCurve& curve, const Segment& whole, double sigma) {
  const Line line = line_of(curve, whole);
  return {slope_of(curve, whole, sigma), line.intercept + line.slope * curve.x[whole.first],
          line.intercept + line.slope * curve.x[whole.last]};
}

/// Returns true if `a` and `b` are separated by a slow step, as between an AMD GPU's cache and its
/// memory, instead of creep. Both plateaus must be flat over a factor of 2.7 in size. The curve
/// between the plateaus must surely be steeper by a factor of 4.
bool is_slow_step(const LogCurve& curve, const Plateau& a, const Plateau& b, double sigma) {
  constexpr double min_span_of_side = 1.0;
  constexpr double min_contrast = 4.0;
  const Segment near{.first = a.first(), .last = a.last()};
  const Segment far{.first = b.first(), .last = b.last()};
  if (far.first <= near.last) return false;
  if (std::min(span_of(curve, near), span_of(curve, far)) < min_span_of_side) return false;
  const Side before = side_of(curve, near, sigma);
  const Side after = side_of(curve, far, sigma);
  const double rise = after.y_first - before.y_last;
  const double steepness = rise / (curve.x[far.first] - curve.x[near.last]);
  const auto is_flat = [&](const Side& side) {
    return min_contrast * (std::abs(side.slope.value) + 1.645 * side.slope.error) <= steepness;
  };
  // The standard error of a fitted line at its end is twice that of its mean.
  const auto points = [](const Segment& side) { return static_cast<double>(side.count()); };
  const double error = 2.0 * sigma * std::sqrt(1.0 / points(near) + 1.0 / points(far));
  return rise > min_ratio + 1.645 * error && is_flat(before) && is_flat(after);
}

/// Returns the steepest slope from plateau `a` to plateau `b`, by the lines through the segments,
/// over at least a factor of 2 in size or the whole distance. If neighbouring sizes are farther
/// apart, the rise may be a step, so that its slope is that over a factor of 2.
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

/// Returns true if a cache ends after plateau `a`: the plateau is flat over a factor of 2.7 in
/// size, or a knee follows. A gentle slope is not a knee. If each compute unit has a private cache
/// in addition to a shared cache, a part of every larger working set still hits the private cache.
/// On an H200, read bandwidth falls from 15 to 9.1 TB/s between 480 KiB and 8 MiB, with slopes from
/// 0.1 to 0.3. The slope at the end of its L2 is at least 0.54.
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
  // A level is never faster than the previous level, so that a fall is a disturbance within one
  // level.
  if (height(curve, b) - height(curve, a) <= min_step) return true;
  if (a.is_shelf || b.is_shelf) return false;
  if (is_slow_step(curve, a, b, sigma)) return false;
  const double rise = b.members.front().y_first - a.members.back().y_last;
  const double distance = curve.x[b.first()] - curve.x[a.last()];
  if (rise <= min_step) return true;
  return slow == SlowRise::one_level && rise <= creep_slope * distance;
}

/// Returns true if segment i is the slow step between two levels. Such a ramp may be gentle enough
/// to look like a level.
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
    // After combining two plateaus, the result may form one level with the plateau before it.
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
