// SPDX-License-Identifier: Apache-2.0
#include "analysis/compared_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

namespace clprobe {
namespace {

std::string text_of(const Value& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

/// Time of one access in seconds, or accesses (bytes) a second; nothing where neither is known.
std::optional<double> value_of(const TimedPoint& timed, bool is_rate) {
  if (!timed.point->failure.empty() || !timed.time) return std::nullopt;
  return is_rate ? 1e9 / timed.time->ns : timed.time->ns * 1e-9;
}

/// Parameters that differ between points, and one point's worth of those that do not.
void split_parameters(const std::vector<TimedPoint>& points, ComparedCurve& curve) {
  for (const auto& [name, value] : points.front().point->parameters) {
    const bool is_constant = std::all_of(
        points.begin(), points.end(), [&, &name = name, &value = value](const TimedPoint& timed) {
          const Value* const other = timed.point->parameters.find(name);
          return other != nullptr && *other == value;
        });
    if (is_constant) {
      curve.settings.set(name, value);
    } else {
      curve.varying.push_back(name);
    }
  }
  std::sort(curve.varying.begin(), curve.varying.end());
}

/// The parameter along which the points of a curve stand: the only one that varies, or that of the
/// view, where no two of them share a value. Empty where there is none.
std::string axis_of(const std::vector<TimedPoint>& points, const ComparedCurve& curve,
                    const std::string& shown) {
  if (curve.varying.size() == 1) return curve.varying.front();
  std::set<std::int64_t> values;
  for (const TimedPoint& each : points) {
    values.insert(each.point->parameters.integer_or(shown, 0));
  }
  return values.size() == points.size() ? shown : std::string();
}

}  // namespace

ComparedCurve curve_of(const std::vector<TimedPoint>& points, bool is_rate,
                       const std::string& shown) {
  ComparedCurve curve;
  curve.series = points.front().point->series;
  curve.unit = is_rate ? "bytes_per_second" : "seconds";
  curve.is_follow_up = std::all_of(points.begin(), points.end(), [](const TimedPoint& each) {
    return each.point->facts.find(follow_up) != nullptr;
  });
  split_parameters(points, curve);
  const std::string axis = axis_of(points, curve, shown);
  for (const TimedPoint& timed : points) {
    const std::optional<double> value = value_of(timed, is_rate);
    if (!value) continue;
    const std::int64_t size = timed.point->parameters.integer_or(axis, 0);
    ComparedPoint compared{.value = *value,
                           .size = static_cast<double>(std::max<std::int64_t>(0, size))};
    for (const std::string& name : curve.varying) {
      const Value* const parameter = timed.point->parameters.find(name);
      if (parameter == nullptr) continue;
      if (!compared.key.empty()) compared.key += ", ";
      compared.key += name;
      compared.key += ' ';
      compared.key += text_of(*parameter);
    }
    curve.points.push_back(std::move(compared));
  }
  // Stable, so that a key that occurs twice keeps its first point in front.
  std::stable_sort(curve.points.begin(), curve.points.end(),
                   [](const ComparedPoint& a, const ComparedPoint& b) { return a.key < b.key; });
  return curve;
}

std::vector<std::vector<TimedPoint>> points_by_series(const ProbeResult& result,
                                                      const DeviceInfo& device) {
  std::vector<std::vector<TimedPoint>> groups;
  std::map<std::string_view, std::size_t> places;
  for (const Point& point : result.points) {
    const auto [place, is_new] = places.emplace(point.series, groups.size());
    if (is_new) groups.emplace_back();
    TimedPoint timed{&point, estimate(point, device)};
    if (timed.time && !(timed.time->ns > 0.0)) timed.time.reset();
    groups[place->second].push_back(timed);
  }
  return groups;
}

namespace {

/// The largest size of the points: along the curve, or of all of them.
double largest_size(const ComparedCurve& curve) {
  auto largest = static_cast<double>(curve.settings.integer_or("working_set_bytes", 0));
  for (const ComparedPoint& each : curve.points) largest = std::max(largest, each.size);
  return largest;
}

/// Why a series is not there: what the run itself says, where it says something.
std::string reason_of(const ComparedResult& result, std::string_view series) {
  for (const ComparedFinding& each : result.findings) {
    const Finding& finding = each.finding;
    const bool is_reason = finding.series == series && !finding.value && !finding.reason.empty();
    if (is_reason) return finding.reason;
  }
  return "no point was measured";
}

/// Why a curve says less than the baseline's; empty where it does not.
std::string cut_of(const ComparedCurve& baseline, const ComparedCurve& other, bool is_same_device) {
  constexpr double near = 1.5;  // refined sizes differ from run to run
  const double before = largest_size(baseline);
  const double now = largest_size(other);
  if (is_same_device && before > near * now) {
    return fmt::format("the largest size is {:.3g} times the baseline's", now / before);
  }
  const std::size_t points = other.points.size();
  if (2 * points >= baseline.points.size()) return {};
  return fmt::format("only {} points (baseline: {})", points, baseline.points.size());
}

}  // namespace

std::vector<Cut> find_cuts(const ComparedResult& baseline, const ComparedResult& other,
                           bool is_same_device) {
  std::vector<Cut> cuts;
  for (const ComparedCurve& curve : baseline.curves) {
    if (curve.is_follow_up) continue;
    const auto found =
        std::find_if(other.curves.begin(), other.curves.end(),
                     [&](const ComparedCurve& each) { return each.series == curve.series; });
    const std::string reason = found == other.curves.end() ? reason_of(other, curve.series)
                                                           : cut_of(curve, *found, is_same_device);
    if (!reason.empty()) cuts.push_back({curve.series, reason});
  }
  return cuts;
}

}  // namespace clprobe
