// SPDX-License-Identifier: Apache-2.0
#include "analysis/brackets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>

#include "analysis/finding_error.hpp"
#include "analysis/judge.hpp"
#include "analysis/level_maps.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

// Whoever has more of a CPU's cores than this has data in its caches.
constexpr double shares_caches = 0.1;
// How far a point of a level may lie from its interval.
constexpr double near = 1.05;

/// What two levels of another latency differ by anyhow: the ratio at the sizes up to `size`, from
/// its half on.
double ratio_below(const ComparedCurve& baseline, const ComparedCurve& other, double size) {
  const std::vector<double> ratios =
      log_ratios(baseline, other, std::nextafter(size / 2.0, 0.0), std::nextafter(size, HUGE_VAL));
  return ratios.empty() ? 0.0 : median(ratios);
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

/// Logarithms of how much slower the run of the smaller of two capacities is at the sizes between
/// them, relative to the level itself.
std::vector<double> slower_by(const ComparedCurve& of_smaller, const ComparedCurve& of_larger,
                              const Finding& a, const Finding& b) {
  const auto [low, high] = std::minmax(*a.value, *b.value);
  std::vector<double> ratios = log_ratios(of_larger, of_smaller, low, high);
  const double of_level = ratio_below(of_larger, of_smaller, std::min(*a.low, *b.low));
  for (double& ratio : ratios) ratio -= of_level;
  return ratios;
}

/// Half the width of the interval between the times of two levels: what disturbs these disturbs the
/// curves where they end. 0 where one has no time.
double error_of_times(const ComparedResult& baseline, const ComparedResult& other,
                      const Finding& from, const Finding& to) {
  const auto before = speeds_of(baseline, from.series);
  const auto after = speeds_of(other, to.series);
  const auto a = before.find(*from.level);
  const auto b = after.find(*to.level);
  if (a == before.end() || b == after.end()) return 0.0;
  const Interval interval = difference(locate(*a->second), locate(*b->second)).interval;
  return (interval.high - interval.low) / 2.0;
}

/// Whether these logarithms are, in the mean, beyond a coarse change and what disturbs the levels,
/// and beyond their own interval.
bool are_apart(std::span<const double> ratios, double error) {
  constexpr std::size_t min_ratios = 2;  // one alone may be an outlier
  if (ratios.size() < min_ratios) return false;
  const double half_width = student_t(ratios.size() - 1) * standard_deviation(ratios) /
                            std::sqrt(static_cast<double>(ratios.size()));
  const double apart = mean(ratios);
  return apart > std::log1p(coarse_change) + error && apart > half_width;
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
  const bool has_brackets = is_bracket(a) && is_bracket(b) && a.value && b.value && a.level &&
                            b.level && a.low && b.low && a.high && b.high;
  const ComparedCurve* const before = has_brackets ? sized_curve(baseline, a.series) : nullptr;
  const ComparedCurve* const after = has_brackets ? sized_curve(other, b.series) : nullptr;
  if (before == nullptr || after == nullptr || before->unit != "seconds") return;
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
  const std::vector<double> ratios =
      slower_by(change > 0.0 ? *before : *after, change > 0.0 ? *after : *before, a, b);
  if (!are_apart(ratios, error_of_times(baseline, other, a, b))) return;
  judged.verdict = direction_of(b, change > 0.0);
  judged.resolution.reset();
  judged.p_value =
      two_sided_p(std::fabs(change) / (2.0 * step) * student_t(normal_degrees), normal_degrees);
  judged.reason += fmt::format("; but at the {} sizes between them the curves are {:.3g} % apart",
                               ratios.size(), 100.0 * std::expm1(mean(ratios)));
}

void look_at_levels(const ComparedResult& baseline, const ComparedResult& other,
                    const Finding& from, const Finding& to, Judgement& judged) {
  if (!is_change(judged.verdict) || !from.level || !to.level || is_speed(from)) return;
  const double others = std::max(baseline.others_share, other.others_share);
  if (others > shares_caches) {
    judged.verdict = Verdict::unclear;
    judged.reason += fmt::format("; but others had {:.2g} % of the cores, and a part of the caches",
                                 100.0 * others);
    return;
  }
  const auto before = speeds_of(baseline, from.series);
  const auto after = speeds_of(other, to.series);
  // Where a level ends is where the next one begins.
  for (const int next : {0, 1}) {
    const auto a = before.find(*from.level + next);
    const auto b = after.find(*to.level + next);
    if (a == before.end() || b == after.end()) continue;
    const Difference times = difference(locate(*a->second), locate(*b->second));
    const bool is_apart = std::fabs(times.change) > std::log1p(coarse_change);
    if (!is_apart && times.farthest() <= std::log1p(coarse_change)) continue;
    judged.verdict = Verdict::unclear;
    judged.reason +=
        fmt::format("; but level {} {} {:.3g} % apart, so that it may be another one", a->first,
                    is_apart ? "is" : "may be",
                    100.0 * std::expm1(is_apart ? std::fabs(times.change) : times.farthest()));
    return;
  }
}

}  // namespace clprobe
