// SPDX-License-Identifier: Apache-2.0
#include "clprobe/level_end.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/segmentation.hpp"

namespace clprobe {
namespace {

/// Where a falling function crosses `value` between `low` and `high`: the last place at which it is
/// still above, or the first one at which it is below, which differ where it is flat there.
template <typename Function>
double crossing(Function function, double value, double low, double high) {
  // Sizes are at most a factor of 2^64 apart: this is exact to a billionth.
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2.0;
    (function(middle) > value ? low : high) = middle;
  }
  return (low + high) / 2.0;
}

}  // namespace

double missed_share(double time, double level, double next) {
  return std::clamp((time - level) / (next - level), 0.0, 1.0);
}

MissCurve::MissCurve(std::span<const CurvePoint> points, double level, double next) {
  const analysis::LogCurve curve = analysis::monotone(analysis::to_log_curve(points));
  sizes_ = curve.x;
  for (const double height : curve.y) {
    shares_.push_back(next > level ? missed_share(std::exp(height), level, next) : 0.0);
  }
}

double MissCurve::at(double size) const {
  if (sizes_.empty()) return 0.0;
  const auto after = std::upper_bound(sizes_.begin(), sizes_.end(), size);
  if (after == sizes_.begin()) return shares_.front();
  if (after == sizes_.end()) return shares_.back();
  const auto i = static_cast<std::size_t>(after - sizes_.begin());
  const double part = (size - sizes_[i - 1]) / (sizes_[i] - sizes_[i - 1]);
  return shares_[i - 1] + part * (shares_[i] - shares_[i - 1]);
}

double MissCurve::size_of(double share) const {
  if (sizes_.empty()) return 0.0;
  const auto hits = [&](double size) { return 1.0 - at(size); };
  constexpr double hair = 1e-9;
  const double first = crossing(hits, 1.0 - share + hair, sizes_.front(), sizes_.back());
  const double last = crossing(hits, 1.0 - share - hair, sizes_.front(), sizes_.back());
  return std::midpoint(first, last);
}

bool MissCurve::is_whole() const {
  return !shares_.empty() && shares_.front() < 0.1 && shares_.back() > 0.9;
}

std::vector<double> sizes_of_end(const std::array<MissCurve, 2>& curves,
                                 std::span<const double> sizes) {
  std::vector<double> found;
  if (sizes.empty()) return found;
  const auto mean_at = [&](double size) {
    return std::midpoint(curves[0].at(size), curves[1].at(size));
  };
  const auto nearest = [&](double size) {
    return *std::min_element(sizes.begin(), sizes.end(), [&](double a, double b) {
      return std::fabs(a - size) < std::fabs(b - size);
    });
  };
  const double missed_by_one = std::min(curves[0].end(), curves[1].end());
  const double missed_by_both = std::max(curves[0].begin(), curves[1].begin());
  std::vector<double> between;
  for (const double size : sizes) {
    if (size >= missed_by_one && size <= missed_by_both) between.push_back(size);
  }
  if (between.size() >= 2) {
    const double middle = std::midpoint(between.front(), between.back());
    found = {between.front(), nearest(middle), between.back()};
  } else {
    const auto hits = [&](double size) { return 1.0 - mean_at(size); };
    for (const double share : {0.25, 0.5, 0.75}) {
      found.push_back(nearest(crossing(hits, 1.0 - share, sizes.front(), sizes.back())));
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

LevelEnd::LevelEnd(std::array<MissCurve, 2> curves, std::vector<double> sizes)
    : curves_(std::move(curves)), sizes_(std::move(sizes)) {}

LevelEnd::Moved LevelEnd::move(const MissCurve& curve, double misses) const {
  const auto misses_at = [&](double by) {
    double sum = 0.0;
    for (const double size : sizes_) sum += curve.at(size - by);
    return sum;
  };
  // Farther away all sizes are in the level, or in the next one.
  const double small = sizes_.front() - curve.end();
  const double large = sizes_.back() - curve.begin();
  if (misses >= misses_at(small)) return {small, -1};
  if (misses <= misses_at(large)) return {large, 1};
  // Where the rise is between two sizes, no place there is better than another, and a little more
  // or less than a whole number of missing sizes is noise.
  constexpr double noise = 0.05;
  const double first = crossing(misses_at, misses + noise, small, large);
  const double last = crossing(misses_at, misses - noise, small, large);
  return {std::midpoint(first, last), 0};
}

std::optional<EndsApart> LevelEnd::compare(std::span<const double> baseline,
                                           std::span<const double> other) const {
  const double ours = std::accumulate(baseline.begin(), baseline.end(), 0.0);
  const double theirs = std::accumulate(other.begin(), other.end(), 0.0);
  EndsApart apart;
  bool is_known = false;
  for (const MissCurve& curve : curves_) {
    const Moved from = move(curve, ours);
    const Moved to = move(curve, theirs);
    apart.log_ratio += (to.by - from.by) / static_cast<double>(curves_.size());
    apart.is_bound = apart.is_bound || from.beyond != 0 || to.beyond != 0;
    is_known = is_known || from.beyond == 0 || from.beyond != to.beyond;
  }
  return is_known ? std::optional(apart) : std::nullopt;
}

double LevelEnd::resolution() const {
  double widest = 0.0;
  for (const MissCurve& curve : curves_) {
    for (std::size_t i = 1; i < sizes_.size(); ++i) {
      widest = std::max(widest, sizes_[i] - sizes_[i - 1] - (curve.end() - curve.begin()));
    }
  }
  return widest;
}

}  // namespace clprobe
