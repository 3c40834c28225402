// SPDX-License-Identifier: Apache-2.0
// Which findings and points belong together.
#include "clprobe/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "analysis/brackets.hpp"
#include "analysis/doubts.hpp"
#include "analysis/judge.hpp"
#include "analysis/keys.hpp"
#include "analysis/level_maps.hpp"
#include "analysis/level_sets.hpp"
#include "clprobe/stacks.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

const ComparedResult* find_result(const RunDigest& run, std::string_view probe) {
  const auto found = std::find_if(run.results.begin(), run.results.end(),
                                  [&](const ComparedResult& each) { return each.probe == probe; });
  return found == run.results.end() ? nullptr : &*found;
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

class Comparator {
 public:
  Comparator(std::span<const RunDigest> runs, std::size_t baseline, double threshold)
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
      if (!each.finding.value) continue;
      settle(run, each, {}, {.verdict = Verdict::different, .reason = reason});
    }
  }

  void settle(std::size_t run, const ComparedFinding& baseline, const ComparedFinding* finding,
              Judgement judgement) {
    if (!judgement.reason.empty()) count(made_.counts[run], judgement.verdict);
    made_.rows[places_.at(&baseline)].cells[run] = {finding, std::move(judgement)};
  }

  /// One row for the levels of a series, however many findings of theirs differ for it.
  void settle_levels(std::size_t run, const std::string& probe, const LevelSets& sets) {
    const auto keep = [&](const ComparedFinding& finding) {
      made_.made.push_back(std::make_shared<const ComparedFinding>(finding));
      return made_.made.back().get();
    };
    const auto is_row = [&](const ComparedRow& row) {
      const Finding& finding = row.baseline->finding;
      return row.probe == probe && finding.series == sets.baseline.finding.series &&
             finding.name == sets.baseline.finding.name && !finding.level;
    };
    auto row = std::find_if(made_.rows.begin(), made_.rows.end(), is_row);
    if (row == made_.rows.end()) {
      made_.rows.push_back({.probe = probe, .baseline = keep(sets.baseline)});
      row = made_.rows.end() - 1;
      row->cells.resize(runs_.size());
      row->cells[made_.baseline].finding = row->baseline;
    }
    count(made_.counts[run], sets.judgement.verdict);
    row->cells[run] = {keep(sets.other), sets.judgement};
  }

  void match_findings(std::size_t run, const ComparedResult& baseline,
                      const ComparedResult& other) {
    const bool is_same_device = runs_[run].device == baseline_.device;
    const auto maps =
        is_same_device ? level_maps(baseline, other) : std::map<std::string_view, LevelMap>{};
    const auto ours = keyed(other, maps);
    const std::vector<LevelSets> sets = differing_levels(baseline, other, maps);
    for (const LevelSets& each : sets) settle_levels(run, baseline.probe, each);
    std::map<std::string_view, std::string> doubts;  // by series
    const auto doubt_about = [&](std::string_view series) -> const std::string& {
      const auto [place, is_new] = doubts.emplace(series, std::string());
      if (is_new) place->second = doubt_of(baseline, other, series, is_same_device);
      return place->second;
    };
    for (const auto& [key, finding] : keyed(baseline, {})) {
      const auto found = ours.find(key);
      if (found != ours.end() && rests_on_differing(finding->finding, sets)) {
        settle(run, *finding, found->second, {});
        continue;
      }
      if (found != ours.end()) {
        Judgement judged = is_same_device
                               ? judge_same_device(*finding, *found->second, made_.threshold)
                               : judge(*finding, *found->second, made_.threshold);
        look_at_curves(baseline, other, *finding, *found->second, judged);
        if (is_change(judged.verdict)) {
          const bool is_clock = baseline.probe == clock_section;
          const bool is_sure =
              !is_clock && is_beyond_doubt(judged, finding->finding, made_.threshold);
          const std::string doubt = is_sure ? std::string()
                                    : is_clock
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
               {.verdict = is_known ? Verdict::different : Verdict::unclear,
                .reason = fmt::format("not measured in this run: {}", lost->reason)});
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
    if (is_share_of_bar(finding)) name += fmt::format(" {} ({})", finding.label, finding.method);
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
  return Comparator(runs, baseline, threshold).run();
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
