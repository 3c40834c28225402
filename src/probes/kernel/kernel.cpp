// SPDX-License-Identifier: Apache-2.0
// Probe that replays kernels of other programs from bundles. Method: docs/kernel.md.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/stacks.hpp"
#include "probes/kernel/kernel.hpp"
#include "probes/shared/finding.hpp"

namespace clprobe::kernel {

extern const Probe probe;

namespace {

constexpr std::string_view launch_title{"time per launch"};

constexpr FindingSpec finding_specs[]{
    {.name = "time", .unit = "seconds", .role = Role::headline},
    {.name = "warm_time", .unit = "seconds"},
    {.name = "app_time", .unit = "seconds"},
    {.name = "replay_ratio", .better = Better::unknown},
    {.name = stack_app_share_name, .better = Better::unknown},
    {.name = "deterministic"},
    {.name = "equal_to_app"},
    {.name = "instrument_ratio", .role = Role::remark, .better = Better::unknown},
    {.name = "least_groups", .role = Role::remark, .better = Better::unknown},
    {.name = working_set_name, .unit = "bytes", .better = Better::unknown},
    {.name = levels_name, .role = Role::advice},
    {.name = "memory", .unit = "share"},
    {.name = "main_memory", .unit = "share"},
    {.name = "last_cache", .unit = "share"},
    {.name = "barriers", .unit = "share"},
    {.name = "atomics", .unit = "share"},
    {.name = "local_memory", .unit = "share"},
    {.name = "loads", .unit = "share"},
    {.name = "stores", .unit = "share"},
    {.name = "lanes", .unit = "share"},
    {.name = "fences", .unit = "share"},
    {.name = "functions", .unit = "share"},
    {.name = "chains", .unit = "share"},
    {.name = "near_waits", .unit = "share"},
    {.name = "resident_groups", .better = Better::unknown},
    {.name = "waves", .role = Role::remark, .better = Better::unknown},
    {.name = "buffer_transfer", .unit = "share", .better = Better::unknown},
    {.name = "idle_units", .unit = "share"},
    {.name = "occupancy", .unit = "share"},
    {.name = "tail", .unit = "share"},
    {.name = "starting", .unit = "share"},
    {.name = stack_part_name, .unit = "share"},
    {.name = "advice", .role = Role::advice},
};

constexpr Budgets budgets{
    .quick = {.probe_time = std::chrono::seconds(15), .min_visits = 1, .max_visits = 1},
    .normal = {.probe_time = std::chrono::seconds(60), .relative_interval = 0.02, .max_visits = 4},
    .thorough = {.probe_time = std::chrono::seconds(120),
                 .relative_interval = 0.003,
                 .min_time = std::chrono::seconds(5),
                 .max_visits = 20,
                 .samples_per_visit = 5}};

std::optional<PointProblem> find_problem_of(const Point& point) {
  return find_problem<Shape, Observation>(point);
}

CardPlot plot_of(const ProbeResult& result, std::string_view suffix, CardPlot plot) {
  for (const Point& point : result.points) {
    const bool is_new =
        std::find(plot.series.begin(), plot.series.end(), point.series) == plot.series.end();
    if (point.series.ends_with(suffix) && is_new) plot.series.push_back(point.series);
  }
  return plot;
}

std::vector<CardPlot> plots_of(const ProbeResult& result) {
  std::vector<CardPlot> plots{
      plot_of(result, suffix_of(Variant::instrumented),
              {.title = "time by distinct work-groups",
               .by = "distinct_groups",
               .marks = marks_of(result)}),
      plot_of(result, suffix_of(Variant::resident),
              {.title = "time by resident work-groups", .by = std::string(resident_fact)})};
  for (CardPlot& each : plots) each.value_title = launch_title;
  std::erase_if(plots, [](const CardPlot& each) { return each.series.empty(); });
  return plots;
}

/// Returns the card's line with the kernel's time, its share of the program's device time, and the
/// advice.
CardLine line_of(const ProbeResult& result, const std::string& label, double seconds) {
  CardLine line{label, format_seconds(seconds), true};
  const Finding* const share = find_value(result.findings, stack_app_share_name, label);
  if (share != nullptr) {
    line.text += fmt::format(", {:.0f} % of the program's device time", 100.0 * *share->value);
  }
  for (const Finding& each : result.findings) {
    if (each.name != "advice" || label_of(each.series) != label || each.label.empty()) continue;
    line.text += ". " + each.label;
    break;
  }
  return line;
}

Card card(const ProbeResult& result) {
  Card card;
  card.plots = plots_of(result);
  for (const std::string& series : series_in(result.findings)) {
    if (label_of(series) != series) continue;
    const Finding* const time = find_value(result.findings, "time", series);
    if (time != nullptr) card.lines.push_back(line_of(result, series, *time->value));
    if (time == nullptr && find_finding(result.findings, "time", series) != nullptr) {
      card.unseen.push_back("time of " + series);
    }
  }
  return card;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): only the address of the table is taken
const Probe probe{
    .id = "kernel",
    .title = "Kernels of programs",
    .question = "How long does a program's kernel take alone, and why?",
    .method = 2,
    .replays_launches = true,
    .findings = finding_specs,
    .view = {.kind = ViewKind::curve, .x = "distinct_groups", .value_title = launch_title},
    .budgets = budgets,
    .plan = plan,
    .refine = refine,
    .open = open,
    .find_problem = find_problem_of,
    .analyse = analyse,
    .card = card,
};

}  // namespace clprobe::kernel
