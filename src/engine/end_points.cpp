// SPDX-License-Identifier: Apache-2.0
// Which points show where a level ends, without knowing their probe.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "clprobe/compare.hpp"
#include "clprobe/estimate.hpp"
#include "clprobe/turns.hpp"

namespace clprobe {
namespace {

// Noise of 2 % in a time is then less than a tenth of the way from a level to the next one.
constexpr double min_rise = 1.0 + coarse_change;

std::optional<double> time_ns(const Point& point, const DeviceInfo& device) {
  if (!point.failure.empty()) return std::nullopt;
  const auto found = estimate(point, device);
  if (!found || !(found->ns > 0.0)) return std::nullopt;
  return found->ns;
}

std::int64_t size_of(const Point& point, const Measured& measured) {
  return point.parameters.integer_or(measured.probe->view.x, 0);
}

/// The median of what a load takes at one side's points of these pairs; 0 where it has no time.
double median_ns(const Measured& measured, std::span<const PointPair> pairs,
                 std::size_t PointPair::*side) {
  std::vector<double> times;
  for (const PointPair& pair : pairs) {
    const auto time = time_ns(measured.points[pair.*side], *measured.device);
    if (time) times.push_back(*time);
  }
  return times.empty() ? 0.0 : median(times);
}

std::vector<CurvePoint> curve_of(const Measured& measured, std::string_view series) {
  std::vector<CurvePoint> curve;
  for (const Point& point : measured.points) {
    const auto time = time_ns(point, *measured.device);
    if (point.series != series || !time) continue;
    curve.push_back({static_cast<double>(size_of(point, measured)), *time});
  }
  return curve;
}

/// Whether the rise of the curve is the one at which the capacity lies.
bool is_rise_of(const Finding& capacity, const MissCurve& curve) {
  return curve.is_whole() && curve.at(std::log(*capacity.low)) < 0.5 &&
         curve.at(std::log(*capacity.high)) > 0.1;
}

/// The pairs of points of one size that both sides have measured, by the logarithm of it.
std::map<double, PointPair> common_sizes(const Measured& baseline, const Measured& other,
                                         std::string_view series) {
  std::map<double, PointPair> pairs;
  for (std::size_t a = 0; a < baseline.points.size(); ++a) {
    const Point& ours = baseline.points[a];
    const std::int64_t size = size_of(ours, baseline);
    if (ours.series != series || size <= 0 || !time_ns(ours, *baseline.device)) continue;
    for (std::size_t b = 0; b < other.points.size(); ++b) {
      const Point& theirs = other.points[b];
      const bool is_same = theirs.series == series && theirs.parameters == ours.parameters;
      if (!is_same || !time_ns(theirs, *other.device)) continue;
      pairs.insert({std::log(static_cast<double>(size)), {a, b}});
    }
  }
  return pairs;
}

}  // namespace

std::optional<EndPoints> find_end(const Finding& baseline, const Measured& of_baseline,
                                  const Finding& other, const Measured& of_other,
                                  std::span<const PointPair> level, std::span<const PointPair> next,
                                  std::string& reason) {
  const auto refuse = [&](std::string_view why) {
    reason = why;
    return std::nullopt;
  };
  if (of_baseline.device->name != of_other.device->name) {
    return refuse("two devices have no sizes in common at which it would show");
  }
  if (!baseline.low || !baseline.high || !other.low || !other.high) {
    return refuse("it has no bracket");
  }
  const std::array levels{median_ns(of_baseline, level, &PointPair::baseline),
                          median_ns(of_other, level, &PointPair::other)};
  const std::array nexts{median_ns(of_baseline, next, &PointPair::baseline),
                         median_ns(of_other, next, &PointPair::other)};
  for (std::size_t side = 0; side < levels.size(); ++side) {
    const bool is_steep = levels.at(side) > 0.0 && nexts.at(side) >= min_rise * levels.at(side);
    if (!is_steep) return refuse("the next level takes hardly longer");
  }
  std::array curves{MissCurve(curve_of(of_baseline, baseline.series), levels[0], nexts[0]),
                    MissCurve(curve_of(of_other, other.series), levels[1], nexts[1])};
  if (!is_rise_of(baseline, curves[0]) || !is_rise_of(other, curves[1])) {
    return refuse("the curve does not rise there from one level to the next");
  }
  const std::map<double, PointPair> common = common_sizes(of_baseline, of_other, baseline.series);
  std::vector<double> sizes;
  sizes.reserve(common.size());
  for (const auto& [size, pair] : common) sizes.push_back(size);
  std::vector<double> chosen = sizes_of_end(curves, sizes);
  if (chosen.empty()) return refuse("both sides have no measured size in common");
  std::vector<PointPair> pairs;
  pairs.reserve(chosen.size());
  for (const double size : chosen) pairs.push_back(common.at(size));
  return EndPoints{LevelEnd(std::move(curves), std::move(chosen)), std::move(pairs)};
}

}  // namespace clprobe
