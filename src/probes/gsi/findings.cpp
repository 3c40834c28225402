// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "probes/gsi/account.hpp"
#include "probes/gsi/case_options.hpp"
#include "probes/gsi/case_points.hpp"
#include "probes/gsi/cases.hpp"
#include "probes/gsi/details.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::gsi {
namespace {

constexpr std::string_view flush_label = "end-of-kernel flush";

Finding exactly(Finding finding, double value) {
  finding.value = finding.low = finding.high = value;
  return finding;
}

/// A bar of `all.cycles`, in one view.
void add_view(const std::string& bar, const Detail& all, std::string_view view,
              std::vector<Finding>& findings) {
  const auto add = [&](std::string_view label, double cycles) {
    if (cycles == 0.0) return;
    findings.push_back(exactly(finding_of(stack_part_name, bar, "share", view),
                               cycles / static_cast<double>(all.cycles)));
    findings.back().label = label;
  };
  for (const StallPart& part : stall_parts()) add(part.label, cycles_of(all.breakdown, part));
  add(flush_label, static_cast<double>(all.flush_cycles));
}

void add_time(const std::string& bar, std::uint64_t cycles, std::vector<Finding>& findings) {
  findings.push_back(exactly(finding_of(stack_time_name, bar, "cycles", "simulation"),
                             static_cast<double>(cycles)));
  findings.back().source = Source::measured;
}

struct DetailView {
  std::string_view word;
  std::string_view view;
};
constexpr std::array detail_views{DetailView{units_word, stack_view_units},
                                  DetailView{sub_groups_word, stack_view_sub_groups},
                                  DetailView{timeline_word, stack_view_timeline}};

void add_details(const Point& point, const CaseRun& run, std::vector<Finding>& findings) {
  for (const DetailView& each : detail_views) {
    for (const Detail& detail : details_in(point, run, each.word)) {
      const std::string bar = fmt::format("{}, {}", run.name, detail.what);
      add_time(bar, detail.cycles, findings);
      add_view(bar, detail, each.view, findings);
    }
  }
}

/// What single units have of a part that any of them has.
void add_units(const CaseRun& run, const StallPart& part, std::vector<Finding>& findings) {
  const auto all = static_cast<double>(run.account.result.cycles);
  std::vector<double> shares;
  for (const simulator::Breakdown& unit : run.units) shares.push_back(cycles_of(unit, part) / all);
  std::sort(shares.begin(), shares.end());
  if (shares.empty() || shares.back() == 0.0) return;
  const auto add = [&](std::string_view name, double share) {
    findings.push_back(exactly(finding_of(name, run.name, "share", stack_view_gsi), share));
    findings.back().label = part.label;
  };
  add(stack_unit_least_name, shares.front());
  add(stack_unit_median_name, shares[(shares.size() - 1) / 2]);
  add(stack_unit_most_name, shares.back());
}

void add_stacks(const CaseRun& run, std::vector<Finding>& findings) {
  if (run.account.result.cycles == 0) return;
  add_time(run.name, run.account.result.cycles, findings);
  Detail all{.cycles = run.account.result.cycles,
             .flush_cycles = run.account.flush_cycles,
             .breakdown = run.account.gsi};
  add_view(run.name, all, stack_view_gsi, findings);
  all.breakdown = run.account.all_causes;
  add_view(run.name, all, stack_view_all_causes, findings);
  for (const StallPart& part : stall_parts()) add_units(run, part, findings);
}

void add_change(const CaseChange& change, std::vector<Finding>& findings) {
  Finding thesis = exactly(finding_of(stack_thesis_name, change.what, "", "Alsop 2016, chapter 6"),
                           change.thesis);
  thesis.source = Source::reported;
  findings.push_back(std::move(thesis));
  Finding here = finding_of(stack_ratio_name, change.what, "", "ratio of two bars");
  if (std::isfinite(change.here)) {
    here = exactly(std::move(here), change.here);
  } else {
    here.label = "no ratio";
    here.reason = "the reference bar has a value of 0";
  }
  findings.push_back(std::move(here));
}

/// Times as multiples of that of a bar that was chosen; none where that one has failed.
void add_relative_times(const std::vector<CaseRun>& runs, const std::string& baseline,
                        std::vector<Finding>& findings) {
  const auto cycles = [](const CaseRun& run) {
    return static_cast<double>(run.account.result.cycles);
  };
  const auto one = std::find_if(runs.begin(), runs.end(), [&](const CaseRun& each) {
    return each.name == baseline && cycles(each) > 0.0;
  });
  if (one == runs.end()) return;
  for (const CaseRun& run : runs) {
    if (cycles(run) == 0.0) continue;
    findings.push_back(exactly(finding_of(stack_relative_name, run.name, "", baseline),
                               cycles(run) / cycles(*one)));
  }
}

}  // namespace

Findings analyse(std::span<const Point> points) {
  Findings found;
  std::vector<CaseRun> runs;
  for (const Point& point : points) {
    if (point.samples.empty()) continue;
    if (const auto account = account_in(point.facts)) {
      runs.push_back({point.series, *account, units_in(point.facts, units_told(point.facts))});
      add_stacks(runs.back(), found.findings);
      add_details(point, runs.back(), found.findings);
    } else {
      found.findings.push_back(
          without_value(stack_part_name, point.series, "",
                        "the point's cycle accounting is missing or does not add up"));
    }
  }
  add_relative_times(runs, baseline_in(points), found.findings);
  for (const CaseChange& change : compare_with_thesis(runs)) add_change(change, found.findings);
  return found;
}

}  // namespace clprobe::gsi
