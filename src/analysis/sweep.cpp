// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clprobe {
namespace {

// Sub-group boundaries cost something regular; fewer of them do not tell what.
constexpr std::size_t min_members = 5;

double median_or(const std::vector<double>& values, double otherwise) {
  return values.empty() ? otherwise : median(values);
}

/// Distance of each point but the outer ones to the line through its neighbours, as a share of the
/// point and in standard deviations of one.
std::vector<double> residuals_of(std::span<const int> n, std::span<const double> y) {
  std::vector<double> residuals;
  for (std::size_t i = 1; i + 1 < y.size(); ++i) {
    const double t = static_cast<double>(n[i] - n[i - 1]) / (n[i + 1] - n[i - 1]);
    const double line = y[i - 1] + t * (y[i + 1] - y[i - 1]);
    const double spread = std::sqrt(1.0 + t * t + (1.0 - t) * (1.0 - t));
    residuals.push_back(std::abs(y[i] - line) / (y[i] * spread));
  }
  return residuals;
}

/// Their standard deviation. The median survives jumps, which touch two points each.
double noise_of(std::span<const double> residuals) {
  return residuals.empty() ? 0.0 : 1.4826 * median(residuals);
}

/// The noise around each of `points` points, and not less than that of all: few loads of a memory
/// whose latency scatters do so more than many, of which the slowest decides.
std::vector<double> noise_around(std::span<const double> residuals, std::size_t points) {
  constexpr std::size_t window = 25;  // wide enough for a median
  const double all = noise_of(residuals);
  std::vector<double> noise(points, all);
  if (residuals.size() <= window) return noise;
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t begin =
        std::min(i > window / 2 ? i - window / 2 : 0, residuals.size() - window);
    noise[i] = std::max(all, noise_of(residuals.subspan(begin, window)));
  }
  return noise;
}

/// Takes out what every gap of a kind costs: the slope of fresh requests, and the steps where a
/// sub-group begins. Of steps the lower quartile: those with a jump must not count as regular.
void flatten(Sweep& sweep) {
  const std::size_t gaps = sweep.y.size() - 1;
  std::vector<double> fresh;
  std::vector<double> merged;
  for (std::size_t i = 0; i < gaps; ++i) {
    const double d = sweep.y[i + 1] - sweep.y[i];
    const GapKind kind = kind_of(sweep, i);
    if (kind == GapKind::fresh) {
      fresh.push_back(d / (sweep.requests[i + 1] - sweep.requests[i]));
    }
    if (kind == GapKind::merged) merged.push_back(d / (sweep.n[i + 1] - sweep.n[i]));
  }
  const double per_request = std::max(0.0, median_or(fresh, 0.0));
  const double per_item = std::max(0.0, median_or(merged, 0.0));
  std::vector<double> regular(gaps);
  std::array<std::vector<double>, 2> steps;
  for (std::size_t i = 0; i < gaps; ++i) {
    const GapKind kind = kind_of(sweep, i);
    const double asked = sweep.requests[i + 1] - sweep.requests[i];
    regular[i] = asked > 0.0 ? per_request * asked : per_item * (sweep.n[i + 1] - sweep.n[i]);
    const double rest = sweep.y[i + 1] - sweep.y[i] - regular[i];
    if (kind == GapKind::sub_group) steps[0].push_back(rest);
    if (kind == GapKind::group) steps[1].push_back(rest);
  }
  std::array<double, 2> step{};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].size() >= min_members) step[k] = std::max(0.0, quantile(steps[k], 0.25));
  }
  sweep.z.assign(1, sweep.y.front());
  for (std::size_t i = 0; i < gaps; ++i) {
    const GapKind kind = kind_of(sweep, i);
    if (kind == GapKind::sub_group) regular[i] += step[0];
    if (kind == GapKind::group) regular[i] += step[1];
    sweep.z.push_back(sweep.z.back() + sweep.y[i + 1] - sweep.y[i] - regular[i]);
  }
}

/// A point that stands out of both neighbours, which agree, is a disturbance: a jump stays. Judged
/// without what is regular, by which each point stands below the next.
void drop_outliers(Sweep& sweep) {
  for (std::size_t i = 1; i + 1 < sweep.y.size(); ++i) {
    const double limit = 5.0 * sweep.sigma(i);
    const double left = sweep.z[i] - sweep.z[i - 1];
    const double right = sweep.z[i] - sweep.z[i + 1];
    // The last point before a jump stands below both where the slope is taken for too steep.
    if (std::abs(left - right) > std::min(std::abs(left), std::abs(right))) continue;
    if (std::min(left, right) > limit || std::max(left, right) < -limit) {
      sweep.y[i] = (sweep.y[i - 1] + sweep.y[i + 1]) / 2.0;
      sweep.z[i] = (sweep.z[i - 1] + sweep.z[i + 1]) / 2.0;
    }
  }
}

}  // namespace

GapKind kind_of(const Sweep& sweep, std::size_t i) {
  const int warp = sweep.sub_group;
  const auto part = [&](int items, int size) { return (items + size - 1) / size; };
  const LoadPattern& pattern = sweep.pattern();
  const int group = warp * pattern.merger;
  if (pattern.mode == MergerMode::across && pattern.merger > 1 &&
      part(sweep.n[i + 1], group) != part(sweep.n[i], group)) {
    return GapKind::group;
  }
  if (part(sweep.n[i + 1], warp) != part(sweep.n[i], warp)) return GapKind::sub_group;
  return sweep.requests[i + 1] > sweep.requests[i] ? GapKind::fresh : GapKind::merged;
}

Slope slope_between(const Sweep& sweep, std::size_t first, std::size_t last) {
  if (last < first + 2) return {};
  const std::span<const double> x(sweep.requests);
  const std::span<const double> y(sweep.y);
  if (x[last] <= x[first]) return {};
  const std::size_t count = last - first + 1;
  const Line line = fit_least_squares(x.subspan(first, count), y.subspan(first, count));
  return {std::max(0.0, line.slope),
          {std::max(0.0, line.slope_interval.low), std::max(0.0, line.slope_interval.high)}};
}

std::size_t first_beyond(std::span<const int> n, int items) {
  return static_cast<std::size_t>(std::upper_bound(n.begin(), n.end(), items) - n.begin());
}

std::optional<Sweep> sweep_of(const ThreadLatencyCurve& curve, const ThreadLatencyPlot& plot,
                              int sub_group) {
  Sweep sweep;
  sweep.curve = &curve;
  sweep.sub_group = sub_group;
  for (std::size_t i = 0; i < plot.robust.size(); ++i) {
    const double cycles = plot.robust[i] - curve.overhead_cycles;
    if (cycles <= 0.0) continue;
    sweep.n.push_back(plot.work_items[i]);
    sweep.y.push_back(cycles);
    sweep.requests.push_back(
        static_cast<double>(unique_requests(plot.work_items[i], curve.pattern, sub_group)));
  }
  if (sweep.n.size() < 8) return std::nullopt;
  const std::vector<double> residuals = residuals_of(sweep.n, sweep.y);
  sweep.noise = noise_of(residuals);
  sweep.noise_at = noise_around(residuals, sweep.n.size());
  flatten(sweep);
  drop_outliers(sweep);
  flatten(sweep);
  sweep.latency = *std::min_element(sweep.y.begin(), sweep.y.end());
  const std::size_t warp_end = first_beyond(sweep.n, sub_group);
  if (warp_end >= 1) sweep.first_slope = slope_between(sweep, 0, warp_end - 1).cycles;
  return sweep;
}

}  // namespace clprobe
