// SPDX-License-Identifier: Apache-2.0
// The points of a probe as curves, and decisions about sizes and levels that depend on two curves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "analysis/api/statistics.hpp"
#include "compare/comparing.hpp"

namespace clprobe {
namespace {

std::string text_of(const Value& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

/// Returns the time of one access in seconds; for a rate, the accesses or bytes per second. Returns
/// nothing if unknown.
std::optional<double> value_of(const TimedPoint& timed, bool is_rate) {
  if (!timed.point->failure.empty() || !timed.time) return std::nullopt;
  return is_rate ? 1e9 / timed.time->ns : timed.time->ns * 1e-9;
}

/// Separates the parameters that vary between points from the constant ones.
void split_parameters(const std::vector<TimedPoint>& points, ComparedCurve& curve) {
  for (const auto& [name, value] : points.front().point->parameters) {
    const bool is_constant =
        std::ranges::all_of(points, [&, &name = name, &value = value](const TimedPoint& timed) {
          const Value* const other = timed.point->parameters.find(name);
          return other != nullptr && *other == value;
        });
    if (is_constant) {
      curve.settings.set(name, value);
    } else {
      curve.varying.push_back(name);
    }
  }
  std::ranges::sort(curve.varying);
}

/// Returns the parameter on the x axis of a curve: the only varying parameter, or `shown` if all
/// points have different values of it. Empty if neither exists.
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
  curve.is_follow_up = std::ranges::all_of(
      points, [](const TimedPoint& each) { return each.point->facts.find(follow_up) != nullptr; });
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
  // A stable sort keeps the first of two points with the same key in front.
  std::ranges::stable_sort(curve.points, {}, &ComparedPoint::key);
  return curve;
}

std::vector<std::vector<TimedPoint>> points_by_series(const ProbeResult& result,
                                                      const DeviceInfo& device) {
  std::vector<std::vector<TimedPoint>> groups;
  std::map<std::string_view, std::size_t> indices;
  for (const Point& point : result.points) {
    const auto [index, is_new] = indices.emplace(point.series, groups.size());
    if (is_new) groups.emplace_back();
    TimedPoint timed{&point, estimate(point, device)};
    if (timed.time && !(timed.time->ns > 0.0)) timed.time.reset();
    groups[index->second].push_back(timed);
  }
  return groups;
}

namespace {

/// Returns the largest value on the curve's x axis, or its constant working set if that is larger.
double largest_size(const ComparedCurve& curve) {
  auto largest = static_cast<double>(curve.settings.integer_or("working_set_bytes", 0));
  for (const ComparedPoint& each : curve.points) largest = std::max(largest, each.size);
  return largest;
}

/// Returns the reason why a series is missing, from the run's own findings if possible.
std::string reason_of(const ComparedResult& result, std::string_view series) {
  for (const ComparedFinding& each : result.findings) {
    const Finding& finding = each.finding;
    const bool is_reason = finding.series == series && !finding.value && !finding.reason.empty();
    if (is_reason) return finding.reason;
  }
  return "no point was measured";
}

/// Returns why a curve is less complete than the curve of the baseline; empty if it is complete.
std::string cut_of(const ComparedCurve& baseline, const ComparedCurve& other, bool is_same_device) {
  constexpr double near = 1.5;  // tolerance, since refined sizes vary between runs
  const double before = largest_size(baseline);
  const double now = largest_size(other);
  if (is_same_device && before > near * now) {
    return fmt::format("the largest size is {:.3g} times the baseline's", now / before);
  }
  const std::size_t points = other.points.size();
  if (2 * points >= baseline.points.size()) return {};
  return fmt::format("only {} points (baseline: {})", points, baseline.points.size());
}

std::string differing_settings(const ComparedCurve& baseline, const ComparedCurve& other) {
  std::string text;
  for (const auto& [name, value] : other.settings) {
    const Value* const before = baseline.settings.find(name);
    if (before == nullptr || *before == value) continue;
    const auto shown = [](const Value& held) {
      return std::visit([](const auto& each) { return fmt::format("{}", each); }, held);
    };
    text += fmt::format("{}{} {} (baseline: {})", text.empty() ? "" : "; ", name, shown(value),
                        shown(*before));
  }
  return text;
}

}  // namespace

CurveSummary summarise_curve(std::size_t run, const std::string& probe,
                             const ComparedCurve& baseline, const ComparedCurve& other) {
  CurveSummary summary{.run = run, .probe = probe, .series = other.series, .unit = other.unit};
  summary.note = differing_settings(baseline, other);
  if (baseline.unit != other.unit || baseline.varying != other.varying) {
    summary.note = "the unit or the varied parameters differ from those of the baseline";
    return summary;
  }
  std::vector<double> ratios;  // as logarithms, so that swapped runs give the inverse summary
  double furthest = -1.0;
  auto theirs = baseline.points.begin();
  for (const ComparedPoint& point : other.points) {
    while (theirs != baseline.points.end() && theirs->key < point.key) ++theirs;
    if (theirs == baseline.points.end() || theirs->key != point.key) continue;
    const double ratio = std::log(point.value / theirs->value);
    ++theirs;
    if (!std::isfinite(ratio)) continue;
    ratios.push_back(ratio);
    if (std::fabs(ratio) <= furthest) continue;
    furthest = std::fabs(ratio);
    summary.furthest = point.key;
    summary.furthest_ratio = std::exp(ratio);
  }
  summary.matched = ratios.size();
  summary.only_baseline = baseline.points.size() - ratios.size();
  summary.only_here = other.points.size() - ratios.size();
  if (ratios.empty()) return summary;
  constexpr double tail = 0.05;
  summary.median_ratio = std::exp(median(ratios));
  summary.low_ratio = std::exp(quantile(ratios, tail));
  summary.high_ratio = std::exp(quantile(ratios, 1.0 - tail));
  return summary;
}

std::vector<Cut> find_cuts(const ComparedResult& baseline, const ComparedResult& other,
                           bool is_same_device) {
  std::vector<Cut> cuts;
  for (const ComparedCurve& curve : baseline.curves) {
    if (curve.is_follow_up) continue;
    const auto found = std::ranges::find(other.curves, curve.series, &ComparedCurve::series);
    const std::string reason = found == other.curves.end() ? reason_of(other, curve.series)
                                                           : cut_of(curve, *found, is_same_device);
    if (!reason.empty()) cuts.push_back({curve.series, reason});
  }
  return cuts;
}

namespace {

// Maximum ratio of a point's value to an end of its level's interval.
constexpr double near = 1.05;

/// Returns the ratio of two curves at sizes from half of `size` to `size`, below the sizes at which
/// the curves separate; as a logarithm.
double ratio_below(const ComparedCurve& baseline, const ComparedCurve& other, double size) {
  const std::vector<double> ratios =
      log_ratios(baseline, other, std::nextafter(size / 2.0, 0.0), std::nextafter(size, HUGE_VAL));
  return ratios.empty() ? 0.0 : median(ratios);
}

/// Returns true if the mean of the logarithms exceeds both `coarse_change` and the half-width of
/// its 95 % interval.
bool are_apart(std::span<const double> ratios) {
  constexpr std::size_t min_ratios = 2;  // a single ratio may be an outlier
  if (ratios.size() < min_ratios) return false;
  const double half_width = student_t(ratios.size() - 1) * standard_deviation(ratios) /
                            std::sqrt(static_cast<double>(ratios.size()));
  const double apart = mean(ratios);
  return apart > std::log1p(coarse_change) && apart > half_width;
}

}  // namespace

const ComparedCurve* sized_curve(const ComparedResult& result, std::string_view series) {
  const auto found = std::ranges::find(result.curves, series, &ComparedCurve::series);
  if (found == result.curves.end()) return nullptr;
  const bool has_sizes = std::ranges::all_of(
      found->points, [](const ComparedPoint& point) { return point.size > 0.0; });
  return has_sizes ? &*found : nullptr;
}

std::vector<double> log_ratios(const ComparedCurve& baseline, const ComparedCurve& other,
                               double low, double high) {
  std::map<double, double> known;
  for (const ComparedPoint& point : baseline.points) {
    if (point.size > low && point.size < high) known.emplace(point.size, point.value);
  }
  std::vector<double> ratios;
  for (const ComparedPoint& point : other.points) {
    const auto found = known.find(point.size);
    if (found == known.end()) continue;
    const double ratio = std::log(point.value / found->second);
    if (std::isfinite(ratio)) ratios.push_back(ratio);
  }
  return ratios;
}

namespace {

/// Returns the part of a curve that is within a level's interval.
ComparedCurve part_in_level(const ComparedCurve& curve, const Finding& level) {
  const double low = level.low.value_or(*level.value) / near;
  const double high = level.high.value_or(*level.value) * near;
  ComparedCurve of_level;
  for (const ComparedPoint& point : curve.points) {
    if (point.value >= low && point.value <= high) of_level.points.push_back(point);
  }
  return of_level;
}

}  // namespace

std::size_t points_in_level(const ComparedCurve& curve, const Finding& level) {
  return part_in_level(curve, level).points.size();
}

std::vector<double> ratios_in_level(const ComparedCurve& with, const ComparedCurve& without,
                                    const Finding& level) {
  return log_ratios(part_in_level(with, level), without, 0.0, HUGE_VAL);
}

void look_at_curves(const ComparedResult& baseline, const ComparedResult& other,
                    const ComparedFinding& from, const ComparedFinding& to, Judgement& judged) {
  const Finding& a = from.finding;
  const Finding& b = to.finding;
  const bool has_brackets = judged.verdict == Verdict::unclear && is_bracket(a) && is_bracket(b) &&
                            a.value && b.value && a.level && b.level && a.low && b.low && a.high &&
                            b.high;
  const ComparedCurve* const before = has_brackets ? sized_curve(baseline, a.series) : nullptr;
  const ComparedCurve* const after = has_brackets ? sized_curve(other, b.series) : nullptr;
  if (before == nullptr || after == nullptr || before->unit != "seconds") return;
  const double step = bracket_step(from, to);
  const double change = std::log(*b.value / *a.value);
  // Brackets that overlap by more than one step of the grid may contain the same size.
  const double overlap = std::log(std::min(*a.high, *b.high) / std::max(*a.low, *b.low));
  if (overlap > step || std::fabs(change) <= 2.0 * step) return;
  const ComparedCurve& of_smaller = change > 0.0 ? *before : *after;
  const ComparedCurve& of_larger = change > 0.0 ? *after : *before;
  const auto [low, high] = std::minmax(*a.value, *b.value);
  std::vector<double> ratios = log_ratios(of_larger, of_smaller, low, high);
  const double of_level = ratio_below(of_larger, of_smaller, std::min(*a.low, *b.low));
  for (double& ratio : ratios) ratio -= of_level;
  if (!are_apart(ratios)) return;
  judged.verdict = direction_of(b, change > 0.0);
  judged.resolution.reset();
  judged.p_value =
      two_sided_p(std::fabs(change) / (2.0 * step) * student_t(normal_degrees), normal_degrees);
  judged.reason +=
      fmt::format("; but at the {} sizes between the two values, the curves differ by {:.3g} %",
                  ratios.size(), 100.0 * std::expm1(mean(ratios)));
}

}  // namespace clprobe
