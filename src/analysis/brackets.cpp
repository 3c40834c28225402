// SPDX-License-Identifier: Apache-2.0
#include "analysis/brackets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>

#include "analysis/judge.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

// How far a point of a level may lie from its interval.
constexpr double near = 1.05;

/// What two levels of another latency differ by anyhow: the ratio at the sizes up to `size`, from
/// its half on.
double ratio_below(const ComparedCurve& baseline, const ComparedCurve& other, double size) {
  const std::vector<double> ratios =
      log_ratios(baseline, other, std::nextafter(size / 2.0, 0.0), std::nextafter(size, HUGE_VAL));
  return ratios.empty() ? 0.0 : median(ratios);
}

/// Whether these logarithms are, in the mean, beyond a coarse change and beyond their own interval.
bool are_apart(std::span<const double> ratios) {
  constexpr std::size_t min_ratios = 2;  // one alone may be an outlier
  if (ratios.size() < min_ratios) return false;
  const double half_width = student_t(ratios.size() - 1) * standard_deviation(ratios) /
                            std::sqrt(static_cast<double>(ratios.size()));
  const double apart = mean(ratios);
  return apart > std::log1p(coarse_change) && apart > half_width;
}

}  // namespace

const ComparedCurve* sized_curve(const ComparedResult& result, std::string_view series) {
  const auto found = std::find_if(result.curves.begin(), result.curves.end(),
                                  [&](const ComparedCurve& each) { return each.series == series; });
  if (found == result.curves.end()) return nullptr;
  const bool has_sizes = std::all_of(found->points.begin(), found->points.end(),
                                     [](const ComparedPoint& point) { return point.size > 0.0; });
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

std::vector<double> ratios_in_level(const ComparedCurve& with, const ComparedCurve& without,
                                    const Finding& level) {
  const double low = level.low.value_or(*level.value) / near;
  const double high = level.high.value_or(*level.value) * near;
  ComparedCurve of_level;
  for (const ComparedPoint& point : with.points) {
    if (point.value >= low && point.value <= high) of_level.points.push_back(point);
  }
  return log_ratios(of_level, without, 0.0, HUGE_VAL);
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
  // Brackets that share more than the step where they touch say that both may be one size.
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
      fmt::format("; but at the {} sizes between the two values the curves are {:.3g} % apart",
                  ratios.size(), 100.0 * std::expm1(mean(ratios)));
}

}  // namespace clprobe
