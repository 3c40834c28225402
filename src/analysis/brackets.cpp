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

// How far a point of a level may lie from its interval.
constexpr double near = 1.05;

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

/// The largest of the sizes up to `high` at which loads were about as fast as at `low`. Noise only
/// adds: the level that holds `low` reaches as far.
double fast_until(const ComparedCurve& curve, double low, double high) {
  double level_size = 0.0;
  double level = 0.0;
  for (const ComparedPoint& point : curve.points) {
    if (point.size > low || point.size <= level_size) continue;
    level_size = point.size;
    level = point.value;
  }
  double reached = level_size;
  for (const ComparedPoint& point : curve.points) {
    if (point.size > high || point.value > level * (1.0 + coarse_change)) continue;
    reached = std::max(reached, point.size);
  }
  return reached;
}

/// Whether the smaller of two capacities is one that noise made: its own run was as fast up to
/// nearly the larger one.
bool is_refuted(const ComparedCurve& of_smaller, const Finding& smaller, double larger,
                double step) {
  const double reached = fast_until(of_smaller, *smaller.low, larger);
  return reached > *smaller.high && std::log(larger / reached) <= 2.0 * step;
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
  const bool has_brackets = is_bracket(a) && is_bracket(b) && a.value && b.value && a.level &&
                            b.level && a.low && b.low && a.high && b.high;
  const ComparedCurve* const before = has_brackets ? sized_curve(baseline, a.series) : nullptr;
  const ComparedCurve* const after = has_brackets ? sized_curve(other, b.series) : nullptr;
  if (before == nullptr || after == nullptr) return;
  const double step = bracket_step(from, to);
  const double change = std::log(*b.value / *a.value);
  const bool is_noise =
      change < 0.0 ? is_refuted(*after, b, *a.value, step) : is_refuted(*before, a, *b.value, step);
  if (is_noise && is_change(judged.verdict)) {
    judged.verdict = Verdict::unclear;
    judged.reason += "; but the run of the smaller one was as fast beyond it";
  }
  if (is_noise || judged.verdict != Verdict::unclear) return;
  // Brackets that share more than the step where they touch say that both may be one size.
  const double overlap = std::log(std::min(*a.high, *b.high) / std::max(*a.low, *b.low));
  if (overlap > step || std::fabs(change) <= 2.0 * step) return;
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
