// SPDX-License-Identifier: Apache-2.0
// The table for the terminal: findings first, then what to be wary of, then the curve.
#include <fmt/format.h>

#include "clprobe/report.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/heat_map.hpp"
#include "report/page.hpp"
#include "report/stacks.hpp"
#include "report/table_sections.hpp"
#include "report/thread_latency.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace report {
namespace {

void add_device(Page& page, const Run& run) {
  page.line({{page.show(device_title(run.device)), Ink::heading}});
  for (const std::string& fact : device_facts(run.device)) page.prose("    ", fact, Ink::plain);
  page.prose("    ", "timed by " + timer_text(run.device), Ink::faint);
}

// "latency ------------------------ 81 points, 243 samples in 5.21 s"
void add_result_heading(Page& page, const ProbeResult& result) {
  const std::string name = page.show(result.probe) + " ";
  const std::string text = page.show(result_text(result));
  const int rule = page.width() - display_width(name) - display_width(text) - 1;
  if (result.status != Status::ok || rule < 3) {
    page.line({{name, Ink::heading}});
    page.prose("    ", text, result.status == Status::ok ? Ink::faint : Ink::failure);
    return;
  }
  std::string dashes;
  for (int i = 0; i < rule; ++i) dashes += page.is_unicode() ? "─" : "-";
  page.line({{name, Ink::heading}, {dashes + " ", Ink::faint}, {text, Ink::faint}});
}

void add_warnings(Page& page, const std::vector<Warning>& warnings) {
  for (const std::string& sentence : warning_sentences(warnings)) {
    page.prose(" ! ", sentence, Ink::caution);
  }
}

void add_result(Page& page, const ProbeResult& result, const DeviceInfo& device,
                const TableStyle& style) {
  page.blank();
  add_result_heading(page, result);
  draw_stacks(page, result.findings, style.all_points);
  const bool has_stacks = !views_of(result.findings).empty();
  if (has_stacks && !without_stacks(result.findings).empty()) page.blank();
  add_findings(page, result.findings);
  if (const std::string failures = failures_text(result); !failures.empty()) {
    page.prose(" ! ", failures, Ink::caution);
  }
  if (style.advice) add_warnings(page, result.warnings);
  const auto maps = has_stacks ? std::vector<HeatMap>{} : heat_maps_of(result, device);
  for (const HeatMap& map : maps) draw_heat_map(page, map);
  const Chart chart = maps.empty() && !has_stacks ? chart_of(result, device) : Chart{};
  if (!chart.series.empty()) {
    page.blank();
    draw_chart(page, chart);
  }
  if (!style.all_points) return;
  if (const Chart variance = variance_chart(result); !variance.series.empty()) {
    page.blank();
    page.prose(" ", "variance of each point and its two neighbours, in square cycles", Ink::faint);
    draw_chart(page, variance);
  }
  add_points(page, result, device);
}

void add_run(Page& page, const Run& run, const TableStyle& style) {
  add_device(page, run);
  if (run.interrupted) {
    page.prose("    ", "INTERRUPTED: what was measured until then is shown", Ink::failure);
  }
  if (style.advice) add_warnings(page, run.warnings);
  if (run.results.empty()) page.prose("    ", "nothing was measured", Ink::faint);
  for (const ProbeResult& result : run.results) add_result(page, result, run.device, style);
}

}  // namespace
}  // namespace report

std::string render_table(std::span<const Run> runs, const TableStyle& style) {
  report::Page page(style);
  if (runs.size() > 1) report::add_side_by_side(page, runs);
  bool is_first = true;
  for (const Run& run : runs) {
    if (!is_first) page.blank();
    is_first = false;
    report::add_run(page, run, style);
  }
  return page.text();
}

}  // namespace clprobe
