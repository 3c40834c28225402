// SPDX-License-Identifier: Apache-2.0
// Which findings and points belong together.
#include "clprobe/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "clprobe/stacks.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

using LevelMap = std::map<int, int>;  // a level of the run to the baseline's; absent: has none

const ComparedResult* find_result(const RunDigest& run, std::string_view probe) {
  const auto found = std::find_if(run.results.begin(), run.results.end(),
                                  [&](const ComparedResult& each) { return each.probe == probe; });
  return found == run.results.end() ? nullptr : &*found;
}

/// The logarithm of the time of each level of a series, and the levels' numbers.
std::vector<std::pair<int, double>> level_times(const ComparedResult& result,
                                                std::string_view series) {
  std::vector<std::pair<int, double>> times;
  for (const ComparedFinding& each : result.findings) {
    const Finding& finding = each.finding;
    if (finding.series != series || !finding.level || finding.unit != "seconds") continue;
    if (!finding.value || !(*finding.value > 0.0)) continue;
    const auto is_same = [&](const auto& time) { return time.first == *finding.level; };
    if (std::any_of(times.begin(), times.end(), is_same)) continue;
    times.emplace_back(*finding.level, std::log(*finding.value));
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// Pairs all of the fewer levels with as many of the others, in order, so that the times of a pair
/// are as near as can be: one level more or less must not shift all that come after it.
/// Source: the alignment of Needleman and Wunsch (1970), with gaps in the longer one alone.
LevelMap align_levels(const std::vector<std::pair<int, double>>& baseline,
                      const std::vector<std::pair<int, double>>& other) {
  const bool is_swapped = baseline.size() > other.size();
  const auto& few = is_swapped ? other : baseline;
  const auto& many = is_swapped ? baseline : other;
  const std::size_t columns = many.size() + 1;
  // cost[i * columns + j]: of the first i of the few among the first j of the many.
  std::vector<double> cost((few.size() + 1) * columns, HUGE_VAL);
  std::fill_n(cost.begin(), columns, 0.0);
  for (std::size_t i = 1; i <= few.size(); ++i) {
    for (std::size_t j = i; j < columns; ++j) {
      const double paired =
          cost[(i - 1) * columns + j - 1] + std::fabs(few[i - 1].second - many[j - 1].second);
      cost[i * columns + j] = std::min(cost[i * columns + j - 1], paired);
    }
  }
  LevelMap map;
  std::size_t j = many.size();
  for (std::size_t i = few.size(); i > 0; --i) {
    while (j > i && cost[i * columns + j - 1] <= cost[i * columns + j]) --j;
    const auto [of_few, of_many] = std::pair(few[i - 1].first, many[j - 1].first);
    map[is_swapped ? of_few : of_many] = is_swapped ? of_many : of_few;
    --j;
  }
  return map;
}

/// What makes a finding the same one in two runs: series, level, name, for shares of a bar
/// their view and label, and the how-manieth of its kind it is.
using Key =
    std::tuple<std::string_view, int, std::string_view, std::string_view, std::string_view, int>;

std::map<Key, const ComparedFinding*> keyed(const ComparedResult& result,
                                            const std::map<std::string_view, LevelMap>& levels) {
  std::map<Key, const ComparedFinding*> found;
  for (const ComparedFinding& each : result.findings) {
    const Finding& finding = each.finding;
    int level = finding.level.value_or(0);
    if (const auto map = levels.find(finding.series); map != levels.end() && level > 0) {
      const auto mapped = map->second.find(level);
      // A level that the baseline does not have must not take the place of one that it has.
      level = mapped == map->second.end() ? -level : mapped->second;
    }
    int repeat = 0;
    const bool is_part = is_told_by_label(finding);
    const std::string_view view = is_part ? finding.method : std::string_view();
    const std::string_view label = is_part ? finding.label : std::string_view();
    while (!found.emplace(Key{finding.series, level, finding.name, view, label, repeat}, &each)
                .second) {
      ++repeat;
    }
  }
  return found;
}

/// For each series that has another number of levels than in the baseline. Only for two runs of one
/// device: of others nobody knows which levels correspond, and the n-th is set beside the n-th.
std::map<std::string_view, LevelMap> level_maps(const ComparedResult& baseline,
                                                const ComparedResult& other) {
  std::map<std::string_view, LevelMap> maps;
  for (const ComparedFinding& each : baseline.findings) {
    const std::string_view series = each.finding.series;
    if (maps.contains(series)) continue;
    const auto ours = level_times(other, series);
    const auto theirs = level_times(baseline, series);
    const bool has_both = !ours.empty() && !theirs.empty();
    if (has_both && ours.size() != theirs.size()) {
      maps[series] = align_levels(theirs, ours);
    }
  }
  return maps;
}

/// The first finding of the series without a value, where the run has none with one: it then says
/// why the series is not there.
const Finding* lost_series(const ComparedResult& result, std::string_view series) {
  const Finding* lost = nullptr;
  for (const ComparedFinding& each : result.findings) {
    if (each.finding.series != series) continue;
    if (each.finding.value) return nullptr;
    if (lost == nullptr) lost = &each.finding;
  }
  return lost;
}

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

/// Why findings of a series may differ although the device is the same; empty where nothing says
/// so. Time that runs out leaves points by chance, and findings of other points are other findings.
/// Events and the host's clock see launches differently.
std::string doubt_of(const ComparedResult& baseline, const ComparedResult& other,
                     std::string_view series) {
  const auto their_curves = curves_behind(baseline, series);
  const auto our_curves = curves_behind(other, series);
  const std::string their_timer = timer_of(their_curves);
  const std::string our_timer = timer_of(our_curves);
  if (!their_timer.empty() && !our_timer.empty() && their_timer != our_timer) {
    return fmt::format("; but timed by {}, in the baseline by {}", our_timer, their_timer);
  }
  if (!baseline.is_cut_short && !other.is_cut_short) return {};
  const auto theirs = point_keys(their_curves);
  const auto ours = point_keys(our_curves);
  const auto same = static_cast<std::size_t>(std::count_if(
      ours.begin(), ours.end(), [&](const auto& key) { return theirs.contains(key); }));
  if (2 * same >= std::max(theirs.size(), ours.size())) return {};
  return fmt::format("; but time ran out, and of {} and {} points only {} are the same",
                     theirs.size(), ours.size(), same);
}

/// Two runs that found the rate of a clock in two ways. Against the host's clock it was found 30 %
/// too low, far beyond its interval (seen on an H200 whose events were refused for once).
std::string doubt_of_clock(const Finding& baseline, const Finding& other) {
  if (baseline.method == other.method) return {};
  return fmt::format("; but by {}, in the baseline by {}", other.method, baseline.method);
}

class Comparing {
 public:
  Comparing(std::span<const RunDigest> runs, std::size_t baseline, double threshold)
      : runs_(runs), baseline_(runs[baseline]) {
    made_.baseline = baseline;
    made_.threshold = threshold;
    made_.counts.resize(runs.size());
    for (const ComparedResult& result : baseline_.results) add_rows(result);
  }

  Comparison run() {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (run != made_.baseline) add_run(run);
    }
    return std::move(made_);
  }

 private:
  void add_rows(const ComparedResult& result) {
    for (const auto& [key, finding] : keyed(result, {})) keys_[result.probe].push_back(key);
    for (const ComparedFinding& each : result.findings) {
      ComparedRow row{.probe = result.probe, .baseline = &each};
      row.cells.resize(runs_.size());
      row.cells[made_.baseline].finding = &each;
      places_[&each] = made_.rows.size();
      made_.rows.push_back(std::move(row));
    }
  }

  void add_run(std::size_t run) {
    for (const ComparedResult& result : baseline_.results) {
      const ComparedResult* const other = find_result(runs_[run], result.probe);
      // Not every device has a clock of its core, and nobody asked for it as for a probe.
      if (other == nullptr && result.probe == clock_section) continue;
      const bool has_nothing = other == nullptr || other->findings.empty();
      if (has_nothing && other != nullptr && result.findings.empty()) {
        if (other->status != result.status) lose_probe(run, result, other);
      } else if (has_nothing) {
        lose_probe(run, result, other);
      } else {
        match_findings(run, result, *other);
      }
      if (other != nullptr) match_curves(run, result, *other);
    }
    for (const ComparedResult& result : runs_[run].results) {
      const bool is_matched = find_result(baseline_, result.probe) != nullptr;
      if (result.probe == clock_section || is_matched) continue;
      made_.unmatched.push_back({run, result.probe, "", "", std::nullopt, "not in the baseline"});
    }
  }

  /// A probe that ran before and fails now is a change; one that nobody asked for is not.
  void lose_probe(std::size_t run, const ComparedResult& result, const ComparedResult* other) {
    const bool has_failed = other != nullptr && other->status != Status::ok;
    std::string reason = "not measured in this run";
    if (has_failed) reason = fmt::format("{}: {}", to_word(other->status), other->reason);
    made_.unmatched.push_back({run, result.probe, "", "", std::nullopt, reason});
    if (!has_failed || result.status != Status::ok) return;
    for (const ComparedFinding& each : result.findings) {
      if (each.finding.value) settle(run, each, {}, {Verdict::different, std::nullopt, reason});
    }
  }

  void settle(std::size_t run, const ComparedFinding& baseline, const ComparedFinding* finding,
              Judgement judgement) {
    count(made_.counts[run], judgement.verdict);
    made_.rows[places_.at(&baseline)].cells[run] = {finding, std::move(judgement)};
  }

  void match_findings(std::size_t run, const ComparedResult& baseline,
                      const ComparedResult& other) {
    const bool is_same_device = runs_[run].device == baseline_.device;
    const auto ours = keyed(other, is_same_device ? level_maps(baseline, other)
                                                  : std::map<std::string_view, LevelMap>{});
    std::map<std::string_view, std::string> doubts;  // by series
    const auto doubt_about = [&](std::string_view series) -> const std::string& {
      const auto [place, is_new] = doubts.emplace(series, std::string());
      if (is_new) place->second = doubt_of(baseline, other, series);
      return place->second;
    };
    for (const auto& [key, finding] : keyed(baseline, {})) {
      const auto found = ours.find(key);
      if (found != ours.end()) {
        Judgement judged = is_same_device
                               ? judge_same_device(*finding, *found->second, made_.threshold)
                               : judge(*finding, *found->second, made_.threshold);
        if (judged.verdict != Verdict::same) {
          const std::string doubt = baseline.probe == clock_section
                                        ? doubt_of_clock(finding->finding, found->second->finding)
                                        : doubt_about(finding->finding.series);
          if (!doubt.empty()) judged.verdict = Verdict::unclear;
          judged.reason += doubt;
        }
        settle(run, *finding, found->second, std::move(judged));
        continue;
      }
      const Finding* const lost = lost_series(other, finding->finding.series);
      if (lost != nullptr && finding->finding.value) {
        // What the device has no more is a change; what this run did not show is none.
        const bool is_known = lost->source == Source::reported;
        settle(run, *finding, nullptr,
               {is_known ? Verdict::different : Verdict::unclear, std::nullopt,
                fmt::format("not measured in this run: {}", lost->reason)});
      } else {
        leave(run, baseline.probe, finding->finding, "only in the baseline");
      }
    }
    const std::vector<Key>& known = keys_[baseline.probe];
    for (const auto& [key, finding] : ours) {
      if (std::binary_search(known.begin(), known.end(), key)) continue;
      leave(run, baseline.probe, finding->finding, "not in the baseline");
    }
  }

  void leave(std::size_t run, const std::string& probe, const Finding& finding,
             std::string_view reason) {
    std::string name = finding.name;
    if (is_told_by_label(finding)) name += fmt::format(" {} ({})", finding.label, finding.method);
    made_.unmatched.push_back(
        {run, probe, finding.series, std::move(name), finding.level, std::string(reason)});
  }

  void match_curves(std::size_t run, const ComparedResult& baseline, const ComparedResult& other) {
    for (const ComparedCurve& ours : other.curves) {
      const auto theirs =
          std::find_if(baseline.curves.begin(), baseline.curves.end(),
                       [&](const ComparedCurve& each) { return each.series == ours.series; });
      if (theirs == baseline.curves.end()) continue;
      made_.curves.push_back(summarise(run, baseline.probe, *theirs, ours));
    }
  }

  static std::string differing_settings(const ComparedCurve& baseline, const ComparedCurve& other) {
    std::string text;
    for (const auto& [name, value] : other.settings) {
      const Value* const before = baseline.settings.find(name);
      if (before == nullptr || *before == value) continue;
      const auto shown = [](const Value& held) {
        return std::visit([](const auto& each) { return fmt::format("{}", each); }, held);
      };
      text += fmt::format("{}{} {}, in the baseline {}", text.empty() ? "" : "; ", name,
                          shown(value), shown(*before));
    }
    return text;
  }

  static CurveSummary summarise(std::size_t run, const std::string& probe,
                                const ComparedCurve& baseline, const ComparedCurve& other) {
    CurveSummary summary{.run = run, .probe = probe, .series = other.series, .unit = other.unit};
    summary.note = differing_settings(baseline, other);
    if (baseline.unit != other.unit || baseline.varying != other.varying) {
      summary.note = "its points differ in other parameters than the baseline's";
      return summary;
    }
    std::vector<double> ratios;
    double furthest = -1.0;
    auto theirs = baseline.points.begin();
    for (const ComparedPoint& point : other.points) {
      while (theirs != baseline.points.end() && theirs->key < point.key) ++theirs;
      if (theirs == baseline.points.end() || theirs->key != point.key) continue;
      const double ratio = point.value / theirs->value;
      ++theirs;
      if (!std::isfinite(ratio) || !(ratio > 0.0)) continue;
      ratios.push_back(ratio);
      if (std::fabs(std::log(ratio)) <= furthest) continue;
      furthest = std::fabs(std::log(ratio));
      summary.furthest = point.key;
      summary.furthest_ratio = ratio;
    }
    summary.matched = ratios.size();
    summary.only_baseline = baseline.points.size() - ratios.size();
    summary.only_here = other.points.size() - ratios.size();
    if (ratios.empty()) return summary;
    constexpr double tail = 0.05;
    summary.median_ratio = median(ratios);
    summary.low_ratio = quantile(ratios, tail);
    summary.high_ratio = quantile(ratios, 1.0 - tail);
    return summary;
  }

  std::span<const RunDigest> runs_;
  const RunDigest& baseline_;
  Comparison made_{};
  std::map<const ComparedFinding*, std::size_t> places_{};
  std::map<std::string, std::vector<Key>, std::less<>> keys_{};  // sorted, by probe
};

}  // namespace

Comparison compare(std::span<const RunDigest> runs, std::size_t baseline, double threshold) {
  if (baseline >= runs.size()) throw std::out_of_range("the baseline is none of the runs");
  return Comparing(runs, baseline, threshold).run();
}

void count(VerdictCounts& counts, Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      ++counts.same;
      break;
    case Verdict::better:
      ++counts.better;
      break;
    case Verdict::worse:
      ++counts.worse;
      break;
    case Verdict::different:
      ++counts.different;
      break;
    case Verdict::unclear:
      ++counts.unclear;
      break;
  }
}

VerdictCounts total_counts(const Comparison& comparison) {
  VerdictCounts total;
  for (const VerdictCounts& each : comparison.counts) {
    total.same += each.same;
    total.better += each.better;
    total.worse += each.worse;
    total.different += each.different;
    total.unclear += each.unclear;
  }
  return total;
}

}  // namespace clprobe
