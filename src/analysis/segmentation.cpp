// SPDX-License-Identifier: Apache-2.0
#include "analysis/segmentation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "clprobe/statistics.hpp"

namespace clprobe::analysis {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Two equal points say nothing unless they are far apart: an octave with less than this rise.
constexpr double octave_rise = 0.03;
constexpr double nearly_octave = 0.6;

/// Sums of x, y and their products up to each point, so that any segment's fit costs O(1).
class PrefixSums {
 public:
  explicit PrefixSums(const LogCurve& curve) : sums_(curve.x.size() + 1) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      // Centred on the first point: the sums of squares keep their digits.
      const double x = curve.x[i] - curve.x.front();
      const double y = curve.y[i] - curve.y.front();
      const Sums& s = sums_[i];
      sums_[i + 1] = {s.x + x, s.y + y, s.xx + x * x, s.xy + x * y, s.yy + y * y};
    }
  }

  struct Fit {
    double mean_x{0.0};  ///< relative to the first point of the curve
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

/// The best last segment of the partition of the points up to each one.
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

/// A partition's time grows with the square of the points. Far more than any run measures are put
/// together with their neighbours, by the medians of equal groups.
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
  std::sort(points.begin(), points.end(), [](const CurvePoint& a, const CurvePoint& b) {
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
  // The lower 30 % instead of the median: on a coarse curve most points are next to a knee. A
  // normal deviate is within 0.3853 with probability 0.3.
  return quantile(residuals, 0.3) / 0.3853;
}

LogCurve without_spikes(const LogCurve& curve, double min_height) {
  LogCurve kept = curve;
  for (const std::size_t width : {std::size_t{1}, std::size_t{2}}) {
    const std::size_t n = kept.x.size();
    if (n < width + 2) return kept;
    // Morphological opening: the greatest lower bound over all windows of width + 1 points that
    // cover the point. Beyond the right end the curve may only rise.
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
  std::vector<Step> best{{.cost = 0.0}};  // of no points at all
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
  std::reverse(segments.begin(), segments.end());
  return segments;
}

}  // namespace clprobe::analysis
