// SPDX-License-Identifier: Apache-2.0
#include "measure/api/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "measure/engine/sampler.hpp"

namespace clprobe {
namespace {

/// Maximum distance of a point from the interval of the finding that it determines. Points of one
/// plateau scatter less, and levels differ by more.
constexpr double near_share = 0.05;

struct Ends {
  double low;
  double high;
};

Ends near_ends(const Finding& finding) {
  const double value = *finding.value;
  return {std::min(value, finding.low.value_or(value)) * (1.0 - near_share),
          std::max(value, finding.high.value_or(value)) * (1.0 + near_share)};
}

std::optional<double> value_of(const Finding& finding, const Point& point,
                               const DeviceInfo& device) {
  if (!point.failure.empty()) return std::nullopt;
  const auto found = estimate(point, device);
  if (!found || !(found->ns > 0.0)) return std::nullopt;
  return value_in(finding.unit, found->ns, device);
}

/// Returns the distance of a point from the finding's value, as a logarithm of the ratio; 0 without
/// a finding, and infinity for a point without a valid time.
double distance(const Finding* finding, const Point& point, const DeviceInfo& device) {
  if (point.samples.empty() || !point.failure.empty()) return HUGE_VAL;
  if (finding == nullptr) return 0.0;
  const auto value = value_of(*finding, point, device);
  return value ? std::fabs(std::log(*value / *finding->value)) : HUGE_VAL;
}

std::uint64_t times(std::uint64_t count, double factor) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * factor));
}

/// Changes all samples of a point as if each access took `factor` times as long.
void slow_down(Point& point, double factor) {
  for (Sample& sample : point.samples) {
    if (sample.ticks) sample.ticks = times(*sample.ticks, factor);
    if (sample.event_ns) sample.event_ns = times(*sample.event_ns, factor);
    sample.host_ns = times(sample.host_ns, factor);
  }
}

/// Returns whether the finding changes by about 2 % if the points at `indexes` take 2 % longer.
bool follows(const Finding& finding, const Measured& measured,
             std::span<const std::size_t> indexes) {
  constexpr double slower = 1.02;
  std::vector<Point> points(measured.points.begin(), measured.points.end());
  for (const std::size_t point_index : indexes) slow_down(points[point_index], slower);
  const Findings after = measured.probe->analyse(*measured.device, points);
  const double expected = is_rate(finding.unit) ? *finding.value / slower : *finding.value * slower;
  // Level numbers are not compared, since an additional level changes the numbers of others.
  return std::any_of(after.findings.begin(), after.findings.end(), [&](const Finding& each) {
    const bool is_kind = each.name == finding.name && each.series == finding.series &&
                         each.unit == finding.unit && each.value && *each.value > 0.0;
    return is_kind && std::fabs(std::log(*each.value / expected)) < std::log(slower) / 2.0;
  });
}

bool are_alike(const Point& a, const Point& b) {
  return a.series == b.series && a.parameters == b.parameters;
}

}  // namespace

bool is_rate(std::string_view unit) {
  return unit == "hertz" || unit.find("_per_") != std::string_view::npos;
}

std::optional<double> value_in(std::string_view unit, double ns_per_access,
                               const DeviceInfo& device) {
  if (unit == "seconds") return ns_per_access / ns_per_second;
  if (unit == "bytes_per_second" || unit == "operations_per_second" || unit == "flops_per_second" ||
      unit == "hertz") {
    return ns_per_second / ns_per_access;
  }
  const double ticks = ns_per_access * device.clock.ticks_per_ns;
  if (!(ticks > 0.0)) return std::nullopt;
  if (unit == "cycles") return ticks;
  if (unit == "bytes_per_cycle") return 1.0 / ticks;
  return std::nullopt;
}

std::vector<std::size_t> find_carriers(const Finding& finding, const Measured& measured) {
  if (!finding.value || !(*finding.value > 0.0)) return {};
  const Ends near = near_ends(finding);
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t i = 0; i < measured.points.size(); ++i) {
    const Point& point = measured.points[i];
    if (point.series != finding.series) continue;
    const auto value = value_of(finding, point, *measured.device);
    if (!value || *value < near.low || *value > near.high) continue;
    found.emplace_back(std::fabs(std::log(*value / *finding.value)), i);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::size_t> indexes;
  indexes.reserve(found.size());
  for (const auto& [difference, point_index] : found) indexes.push_back(point_index);
  return !indexes.empty() && follows(finding, measured, indexes) ? indexes
                                                                 : std::vector<std::size_t>{};
}

std::vector<PointPair> pair_carriers(const Finding* baseline, const Measured& of_baseline,
                                     const Finding* other, const Measured& of_other,
                                     std::size_t max_count) {
  const auto carriers_of = [](const Finding* finding, const Measured& measured) {
    return finding == nullptr ? std::vector<std::size_t>{} : find_carriers(*finding, measured);
  };
  const std::vector<std::size_t> baseline_carriers = carriers_of(baseline, of_baseline);
  const std::vector<std::size_t> other_carriers = carriers_of(other, of_other);
  const auto is_among = [](const std::vector<std::size_t>& indexes, std::size_t point_index) {
    return std::find(indexes.begin(), indexes.end(), point_index) != indexes.end();
  };
  const bool is_same_device = of_baseline.device->name == of_other.device->name;
  std::vector<std::pair<double, PointPair>> common;
  for (std::size_t a = 0; a < of_baseline.points.size(); ++a) {
    for (std::size_t b = 0; b < of_other.points.size(); ++b) {
      const bool shows_baseline = is_among(baseline_carriers, a);
      const bool shows_other = is_among(other_carriers, b);
      const bool is_wanted =
          is_same_device ? shows_baseline || shows_other : shows_baseline && shows_other;
      if (!is_wanted || !are_alike(of_baseline.points[a], of_other.points[b])) continue;
      const double difference = distance(baseline, of_baseline.points[a], *of_baseline.device) +
                                distance(other, of_other.points[b], *of_other.device);
      if (std::isfinite(difference)) common.push_back({difference, {a, b}});
    }
  }
  std::stable_sort(common.begin(), common.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<PointPair> pairs;
  pairs.reserve(common.size());
  for (const auto& [difference, pair] : common) pairs.push_back(pair);
  if (pairs.empty()) {
    for (std::size_t i = 0; i < std::min(baseline_carriers.size(), other_carriers.size()); ++i) {
      pairs.push_back({baseline_carriers[i], other_carriers[i]});
    }
  }
  if (pairs.size() > max_count) pairs.resize(max_count);
  return pairs;
}

namespace {

/// A point that is prepared on one device of a pair.
class PreparedSide {
 public:
  PreparedSide(const Probe& probe, const PairSide& side, const Point& point, std::size_t index)
      : side_(side), index_(index), point_(point) {
    for (const Sample& sample : point.samples) visits_ = std::max(visits_, sample.visit + 1);
    guard([&] { prepared_ = side.backend->prepare(probe, point); });
  }

  /// Returns the logarithm of the time of one access in ns; nothing if the samples give no time.
  std::optional<double> visit(const Budget& budget) {
    point_.samples.clear();
    guard([&] { sample_visit(prepared_, side_.device, budget, visits_++, point_); });
    all_.insert(all_.end(), point_.samples.begin(), point_.samples.end());
    const auto found = estimate(point_, side_.device);
    if (!found || !(found->ns > 0.0)) return std::nullopt;
    return std::log(found->ns);
  }

  void use_core(std::size_t core) {
    guard([&] { side_.backend->use_core(core); });
  }

  [[nodiscard]] std::vector<Sample> take_samples() { return std::move(all_); }

 private:
  template <typename Action>
  void guard(const Action& action) const {
    try {
      action();
    } catch (const DeviceError& error) {
      throw SideError(index_, error.what());
    }
  }

  const PairSide& side_;
  std::size_t index_;
  PreparedPoint prepared_{};
  Point point_;
  std::uint64_t visits_{0};
  std::vector<Sample> all_{};
};

}  // namespace

PairVisit visit_pair(const Probe& probe, const std::array<PairSide, 2>& sides,
                     const std::array<const Point*, 2>& points, bool is_mirrored,
                     const PairBudget& budget, const std::function<bool()>& cancelled) {
  const std::size_t early = is_mirrored ? 1 : 0;
  const std::array both{early, 1 - early};
  std::array<std::optional<PreparedSide>, 2> prepared;
  for (const std::size_t side : both) {
    prepared.at(side).emplace(probe, sides.at(side), *points.at(side), side);
  }
  // A warm-up visit follows the preparation, since the preparation changed clocks and caches.
  for (const std::size_t side : both) prepared.at(side)->visit(budget.visit);
  Backend& clock = *sides[0].backend;
  const auto begin = clock.now();
  const auto is_over = [&](int blocks) {
    const std::chrono::duration<double> spent = clock.now() - begin;
    return blocks >= budget.max_blocks ||
           (blocks >= budget.min_blocks && spent * (blocks + 1) > budget.time * blocks);
  };
  PairVisit visit;
  for (int block = 0; !is_over(block) && !cancelled(); ++block) {
    // Each core runs two consecutive blocks, so that each core measures both orders.
    for (auto& side : prepared) side->use_core(static_cast<std::size_t>(block) / 2);
    const std::size_t first = (static_cast<std::size_t>(block) + early) % 2;
    std::array<std::vector<double>, 2> times;
    for (const std::size_t side : {first, 1 - first, 1 - first, first}) {
      const auto time = prepared.at(side)->visit(budget.visit);
      if (time) times.at(side).push_back(*time);
    }
    if (times[0].size() < 2 || times[1].size() < 2) continue;
    visit.blocks.push_back({{times[0][0], times[0][1]}, {times[1][0], times[1][1]}});
  }
  for (const std::size_t side : both) visit.samples.at(side) = prepared.at(side)->take_samples();
  return visit;
}

}  // namespace clprobe
