// SPDX-License-Identifier: Apache-2.0
#include "analysis/brackets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "analysis/judge.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

// One point alone may be an outlier.
constexpr std::size_t min_ratios = 2;

/// What two levels of another latency differ by anyhow: the ratio at the largest size that both
/// curves have up to `size`.
double ratio_at(const ComparedCurve& baseline, const ComparedCurve& other, double size) {
  std::map<double, double> known;
  for (const ComparedPoint& point : baseline.points) known.emplace(point.size, point.value);
  double nearest = 0.0;
  double ratio = 0.0;
  for (const ComparedPoint& point : other.points) {
    const auto found = known.find(point.size);
    if (found == known.end() || point.size > size || point.size <= nearest) continue;
    nearest = point.size;
    ratio = std::log(point.value / found->second);
  }
  return std::isfinite(ratio) ? ratio : 0.0;
}

}  // namespace

const ComparedCurve* sized_curve(const ComparedResult& result, std::string_view series) {
  const auto found = std::find_if(result.curves.begin(), result.curves.end(),
                                  [&](const ComparedCurve& each) { return each.series == series; });
  if (found == result.curves.end() || found->unit != "seconds") return nullptr;
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

void look_at_curves(const ComparedResult& baseline, const ComparedResult& other,
                    const ComparedFinding& from, const ComparedFinding& to, Judgement& judged) {
  const Finding& a = from.finding;
  const Finding& b = to.finding;
  const bool may_tell = judged.verdict == Verdict::unclear && is_bracket(a) && is_bracket(b) &&
                        a.value && b.value && a.level && b.level;
  if (!may_tell || !a.low || !b.low || !a.high || !b.high) return;
  const double step = bracket_step(from, to);
  const double change = std::log(*b.value / *a.value);
  // Brackets that share more than the step where they touch say that both may be one size.
  const double overlap = std::log(std::min(*a.high, *b.high) / std::max(*a.low, *b.low));
  if (overlap > step || std::fabs(change) <= 2.0 * step) return;
  const ComparedCurve* const before = sized_curve(baseline, a.series);
  const ComparedCurve* const after = sized_curve(other, b.series);
  if (before == nullptr || after == nullptr) return;
  const auto [low, high] = std::minmax(*a.value, *b.value);
  const std::vector<double> ratios = log_ratios(*before, *after, low, high);
  if (ratios.size() < min_ratios) return;
  double sum = 0.0;
  for (const double ratio : ratios) sum += ratio;
  const double apart = sum / static_cast<double>(ratios.size()) -
                       ratio_at(*before, *after, std::min(*a.low, *b.low));
  // The run of the larger capacity is the faster one between the two.
  if ((change > 0.0 ? -apart : apart) <= std::log1p(coarse_change)) return;
  judged.verdict = direction_of(b, change > 0.0);
  judged.resolution.reset();
  judged.p_value =
      two_sided_p(std::fabs(change) / (2.0 * step) * student_t(normal_degrees), normal_degrees);
  judged.reason += fmt::format("; but at the {} sizes between them the curves are {:.3g} % apart",
                               ratios.size(), 100.0 * std::expm1(std::fabs(apart)));
}

}  // namespace clprobe
