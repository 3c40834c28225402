// SPDX-License-Identifier: Apache-2.0
#include "probes/clock/findings.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"
#include "probes/clock/shape.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::clock {
namespace {

/// The clock at a moment of a load.
struct Moment {
  double end_s{0.0};
  double hertz{0.0};
};

std::vector<Moment> moments_of(std::string_view series, const DeviceInfo& device,
                               std::span<const Point> points) {
  constexpr double ms_per_s = 1e3;
  std::vector<Moment> moments;
  for (const Point& point : points) {
    if (point.series != series || !point.failure.empty()) continue;
    const auto shape = find_shape<Shape>(point);
    const std::optional<Estimate> time = estimate(point, device);
    if (!shape || !time || !(time->ns > 0.0)) continue;
    moments.push_back({static_cast<double>(shape->at_ms) / ms_per_s, ns_per_second / time->ns});
  }
  std::sort(moments.begin(), moments.end(),
            [](const Moment& a, const Moment& b) { return a.end_s < b.end_s; });
  return moments;
}

std::vector<double> clocks_of(std::span<const Moment> moments) {
  std::vector<double> clocks;
  clocks.reserve(moments.size());
  for (const Moment& each : moments) clocks.push_back(each.hertz);
  return clocks;
}

/// After the last moment at which it and the one before were both off by more than 1 %: a single
/// one may have been disturbed.
double settled_after(std::span<const Moment> moments, double sustained) {
  constexpr double near = 0.01;
  const auto is_off = [&](const Moment& each) {
    return std::fabs(each.hertz - sustained) > near * sustained;
  };
  double settled = 0.0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const bool is_still = is_off(moments[i]) && (i == 0 || is_off(moments[i - 1]));
    if (is_still) settled = moments[i].end_s;
  }
  return settled;
}

void add_load(Findings& found, const SeriesSpec& series, std::span<const Moment> moments) {
  constexpr std::string_view method = "median of the last third";
  const std::vector<double> all = clocks_of(moments);
  const std::size_t third = std::max<std::size_t>(1, moments.size() / 3);
  const std::vector<double> last = clocks_of(moments.last(third));
  const double sustained = median(last);
  found.findings.push_back(finding_of("clock", series.name, "hertz", method, sustained,
                                      quantile(last, 0.25), quantile(last, 0.75)));
  constexpr std::size_t fewest = 6;
  if (moments.size() < fewest) return;
  // Of the best second, which one moment alone does not make.
  constexpr double throttled_below = 0.97;
  const double best = quantile(all, 0.9);
  const auto below = std::count_if(all.begin(), all.end(),
                                   [&](double clock) { return clock < throttled_below * best; });
  Finding settling = finding_of("settling_time", series.name, "seconds", "within 1 % from then on");
  settling.value = settled_after(moments, sustained);
  found.findings.push_back(std::move(settling));
  Finding throttled = finding_of("throttled", series.name, "share", "below 97 % of the best");
  throttled.value = static_cast<double>(below) / static_cast<double>(all.size());
  found.findings.push_back(std::move(throttled));
  Finding spread = finding_of("spread", series.name, "share", "5 % to 95 % of the moments");
  spread.value = (quantile(all, 0.95) - quantile(all, 0.05)) / median(all);
  found.findings.push_back(std::move(spread));
}

}  // namespace

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<Shape>(point);
}

Findings analyse(const DeviceInfo& device, std::span<const Point> points) {
  Findings found;
  for (const SeriesSpec& series : all_series) {
    const std::vector<Moment> moments = moments_of(series.name, device, points);
    if (!moments.empty()) add_load(found, series, moments);
  }
  return found;
}

}  // namespace clprobe::clock
