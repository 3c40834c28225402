// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::stalls {
namespace {

/// Number of candidate bends per interval between two points. A finer grid would not resolve more,
/// because times scatter.
constexpr int steps_between_points = 8;
/// Minimum rise of the time over the whole range of amounts, as a share of the time. A slow change
/// of the device's clock causes rises below this share.
constexpr double min_rise = 0.03;

/// Minimum ratio of the time with the largest amount of noise to the time without noise. A kernel
/// hides noise during at most its whole time, so the bend occurs before the time has doubled.
constexpr double enough_noise = 2.0;
/// Minimum ratio of the lowest to the highest cost per amount of noise at which the costs count as
/// equal.
constexpr double alike = 0.5;

struct Hinge {
  double level{0.0};
  double bend{0.0};
  double slope{0.0};
  double error{std::numeric_limits<double>::infinity()};
};

/// Fits level + slope * max(0, x - bend) by least squares for a given bend.
Hinge fit_at(std::span<const double> x, std::span<const double> y, double bend) {
  double mean_u = 0.0;
  double mean_y = 0.0;
  const auto count = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_u += std::max(0.0, x[i] - bend) / count;
    mean_y += y[i] / count;
  }
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::max(0.0, x[i] - bend) - mean_u;
    products += u * (y[i] - mean_y);
    squares += u * u;
  }
  Hinge hinge;
  hinge.bend = bend;
  hinge.slope = squares > 0.0 ? products / squares : 0.0;
  hinge.level = mean_y - hinge.slope * mean_u;
  hinge.error = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - hinge.level - hinge.slope * std::max(0.0, x[i] - bend);
    hinge.error += off * off;
  }
  return hinge;
}

/// Returns the best fit over all candidate bends before the last point. Of equal fits, the first
/// counts, which implies the least absorption.
Hinge fit_hinge(std::span<const double> x, std::span<const double> y) {
  Hinge best;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    for (int step = 0; step < steps_between_points; ++step) {
      const double bend =
          x[i] + (x[i + 1] - x[i]) * static_cast<double>(step) / steps_between_points;
      const Hinge hinge = fit_at(x, y, bend);
      if (hinge.error < best.error * (1.0 - 1e-9)) best = hinge;
    }
  }
  return best;
}

bool rises(const Hinge& hinge, double max_injected) {
  return hinge.slope * (max_injected - hinge.bend) > min_rise * hinge.level;
}

/// Returns how far the rising line is below the level at zero noise, as a share of the level. The
/// line is fitted to the points after the bend. Small changes of times hardly move the line, but
/// may move the bend between equally good fits.
double share_of(const Hinge& hinge, std::span<const double> x, std::span<const double> y) {
  if (!(hinge.level > 0.0)) return 0.0;
  const auto behind = std::lower_bound(x.begin(), x.end(), hinge.bend) - x.begin();
  const std::size_t first = std::min(static_cast<std::size_t>(behind), x.size() - 2);
  const Line line = fit_least_squares(x.subspan(first), y.subspan(first));
  return std::max(0.0, 1.0 - line.intercept / hinge.level);
}

/// Returns the value of `Absorption::is_decisive`. `y`: times for the amounts `x`, which begin with
/// 0.
bool decides(std::span<const double> x, std::span<const double> y) {
  if (!(y.back() >= enough_noise * y.front())) return false;
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double cost = (y[i] - y[0]) / x[i];
    least = std::min(least, cost);
    most = std::max(most, cost);
  }
  return least >= alike * most;
}

std::vector<const NoisePoint*> in_order(std::span<const NoisePoint> points) {
  std::vector<const NoisePoint*> sorted;
  for (const NoisePoint& each : points) {
    if (each.visits_ns.empty()) {
      throw AblationError(fmt::format("noise of {:g} has no samples", each.injected));
    }
    sorted.push_back(&each);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const NoisePoint* a, const NoisePoint* b) { return a->injected < b->injected; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->injected > sorted[i - 1]->injected) continue;
    throw AblationError(fmt::format("noise of {:g} appears twice", sorted[i]->injected));
  }
  if (sorted.size() < 3 || sorted.front()->injected != 0.0) {
    throw AblationError("expected at least three amounts of noise, one of them 0");
  }
  return sorted;
}

std::string_view name_of(Resource resource) {
  constexpr std::array<std::string_view, 5> names{"waiting", "arithmetic", "local memory", "cache",
                                                  "memory"};
  return names.at(static_cast<std::size_t>(resource));
}

/// Returns the absorption of the noise that loads `resource`; null if no such noise was measured.
const Absorption* absorption_of(std::span<const NoiseKind> noise, Resource resource) {
  const auto found = std::find_if(noise.begin(), noise.end(),
                                  [&](const NoiseKind& each) { return each.resource == resource; });
  return found == noise.end() ? nullptr : &found->absorption;
}

bool is_saturated(const Absorption& absorption) {
  return absorption.is_found && absorption.is_decisive &&
         absorption.share_interval.high < saturated_share;
}

}  // namespace

std::uint32_t index_of_noise(std::string_view word) {
  const auto* const found = std::find(std::begin(all_noise), std::end(all_noise), word);
  if (found == std::end(all_noise)) throw std::out_of_range(fmt::format("noise of {}", word));
  return static_cast<std::uint32_t>(found - std::begin(all_noise));
}

Resource resource_of_noise(std::string_view word) {
  constexpr std::array resources{Resource::arithmetic, Resource::local_memory, Resource::cache,
                                 Resource::memory};
  return resources.at(index_of_noise(word));
}

std::optional<NoiseShape> noise_of(const Point& point) {
  if (point.parameters.text_or("noise", "").empty()) return std::nullopt;
  return shape_of<NoiseShape>(point);
}

std::vector<Point> noise_points(const Point& usual, const DeviceInfo& device, Effort effort) {
  // Except with --thorough, a CPU gets fewer amounts: noise is only additional work there, and all
  // amounts would take most of the probe's time.
  const bool has_few =
      effort == Effort::quick || (effort == Effort::normal && runs_items_in_turn(device));
  const std::vector<std::uint32_t> amounts =
      has_few ? std::vector<std::uint32_t>{0, 2, 8} : std::vector<std::uint32_t>{0, 1, 2, 4, 8, 16};
  std::vector<Point> points;
  for (const std::string_view kind : all_noise) {
    for (const std::uint32_t amount : amounts) {
      Point point = usual;
      write_shape(NoiseShape{.kind = std::string(kind), .amount = amount}, point);
      points.push_back(std::move(point));
    }
  }
  return points;
}

Absorption find_absorption(std::span<const NoisePoint> points, int resamples) {
  constexpr double tail = 0.025;
  const std::vector<const NoisePoint*> sorted = in_order(points);
  std::vector<double> x;
  std::vector<double> y;
  for (const NoisePoint* const each : sorted) {
    x.push_back(each->injected);
    y.push_back(typical_ns(each->visits_ns));
  }
  const std::vector<double> typical = y;
  const double max_injected = sorted.back()->injected;
  const Hinge hinge = fit_hinge(x, y);
  if (!rises(hinge, max_injected)) return {};
  Absorption found{.is_found = true, .share = share_of(hinge, x, y), .is_decisive = decides(x, y)};
  std::mt19937_64 generator(1);
  std::vector<double> shares;
  for (int i = 0; i < resamples; ++i) {
    for (std::size_t p = 0; p < sorted.size(); ++p) {
      y[p] = resampled_ns(sorted[p]->visits_ns, typical[p], generator);
    }
    const Hinge again = fit_hinge(x, y);
    shares.push_back(rises(again, max_injected) ? share_of(again, x, y) : 1.0);
  }
  found.share_interval = {found.share, found.share};
  if (!shares.empty()) {
    found.share_interval = {quantile(shares, tail), quantile(shares, 1.0 - tail)};
  }
  return found;
}

Agreement compare_with_noise(Resource loaded, std::span<const NoiseKind> noise) {
  const Absorption* const own = absorption_of(noise, loaded);
  // The noise of the loaded resource must be measured, unless the cause loads no resource.
  bool are_free = own != nullptr || (loaded == Resource::waiting && !noise.empty());
  for (const NoiseKind& each : noise) {
    if (each.resource == loaded) continue;
    const Absorption& other = each.absorption;
    are_free = are_free && other.share_interval.low > saturated_share;
    if (!is_saturated(other)) continue;
    if (own != nullptr && other.share_interval.high >= own->share_interval.low) continue;
    return {
        NoiseVerdict::inconclusive,
        fmt::format("the removal of causes ranks {} first, but noise shows that {} is always busy",
                    name_of(loaded), name_of(each.resource))};
  }
  if (own != nullptr && is_saturated(*own)) {
    return {NoiseVerdict::agree,
            fmt::format("the removal of causes and the noise both show that {} is always busy",
                        name_of(loaded))};
  }
  if (are_free) return {NoiseVerdict::agree, "noise shows that no other resource is always busy"};
  return {NoiseVerdict::unknown, "noise does not show whether another resource is busy"};
}

}  // namespace clprobe::stalls
