// SPDX-License-Identifier: Apache-2.0
#include "analysis/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "analysis/finding_error.hpp"

namespace clprobe {
namespace {

/// Whether a finding's series is about this curve: its name, or that with more behind a blank, as
/// "load-throughput 4 B".
bool is_about(std::string_view series, const ComparedCurve& curve) {
  if (!series.starts_with(curve.series)) return false;
  return series.size() == curve.series.size() || series[curve.series.size()] == ' ';
}

/// The curves behind the findings of a series; all of them where none is named like it.
std::vector<const ComparedCurve*> curves_behind(const ComparedResult& result,
                                                std::string_view series) {
  std::vector<const ComparedCurve*> own;
  std::vector<const ComparedCurve*> all;
  for (const ComparedCurve& curve : result.curves) {
    all.push_back(&curve);
    if (is_about(series, curve)) own.push_back(&curve);
  }
  return own.empty() ? all : own;
}

/// All points that have a value, by series and parameters.
std::set<std::pair<std::string_view, std::string_view>> point_keys(
    std::span<const ComparedCurve* const> curves) {
  std::set<std::pair<std::string_view, std::string_view>> keys;
  for (const ComparedCurve* const curve : curves) {
    for (const ComparedPoint& point : curve->points) keys.emplace(curve->series, point.key);
  }
  return keys;
}

/// The one thing that timed all points of these curves; empty where they say nothing of it.
std::string timer_of(std::span<const ComparedCurve* const> curves) {
  std::string timer;
  for (const ComparedCurve* const curve : curves) {
    const std::string own = curve->settings.text_or("timer", "");
    if (curve != curves.front() && own != timer) return {};
    timer = own;
  }
  return timer;
}

}  // namespace

bool is_beyond_doubt(const Judgement& judged, const Finding& finding, double threshold) {
  if (!judged.interval) return false;
  const double bound = std::max(threshold, coarse_change);
  const Interval& interval = *judged.interval;
  if (is_share(finding)) return interval.low > bound || interval.high < -bound;
  return interval.low > 1.0 + bound || interval.high * (1.0 + bound) < 1.0;
}

std::string doubt_of(const ComparedResult& baseline, const ComparedResult& other,
                     std::string_view series, bool is_same_device) {
  const auto their_curves = curves_behind(baseline, series);
  const auto our_curves = curves_behind(other, series);
  const std::string their_timer = timer_of(their_curves);
  const std::string our_timer = timer_of(our_curves);
  if (!their_timer.empty() && !our_timer.empty() && their_timer != our_timer) {
    return fmt::format("; but timed by {}, in the baseline by {}", our_timer, their_timer);
  }
  // The sizes of two devices differ by design.
  if (!is_same_device || (!baseline.is_cut_short && !other.is_cut_short)) return {};
  const auto theirs = point_keys(their_curves);
  const auto ours = point_keys(our_curves);
  const auto same = static_cast<std::size_t>(std::count_if(
      ours.begin(), ours.end(), [&](const auto& key) { return theirs.contains(key); }));
  if (2 * same >= std::max(theirs.size(), ours.size())) return {};
  return fmt::format("; but time ran out, and of {} and {} points only {} are the same",
                     theirs.size(), ours.size(), same);
}

std::string doubt_of_clock(const Finding& baseline, const Finding& other) {
  if (baseline.method == other.method) return {};
  return fmt::format("; but by {}, in the baseline by {}", other.method, baseline.method);
}

}  // namespace clprobe
