// SPDX-License-Identifier: Apache-2.0
// The table for the terminal: the card of each device, then a block per probe.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "clprobe/report.hpp"
#include "report/beside.hpp"
#include "report/card.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/page.hpp"
#include "report/plots.hpp"
#include "report/result_blocks.hpp"
#include "report/stacks.hpp"
#include "report/table_sections.hpp"

namespace clprobe {
namespace report {
namespace {

/// Many probes share a screen: each then has a low chart and a line per series.
constexpr std::size_t max_usual_blocks = 2;

Form form_of(const Run& run, const TableStyle& style) {
  if (style.all_points) return Form::whole;
  return run.results.size() > max_usual_blocks ? Form::brief : Form::usual;
}

void add_provenance(Page& page, const Run& run) {
  for (const std::string& fact : device_facts(run.device)) page.prose("    ", fact, Ink::plain);
  page.prose("    ", "timed by " + timer_text(run.device), Ink::faint);
}

void add_warnings(Page& page, const std::vector<Warning>& warnings) {
  for (const std::string& sentence : warning_sentences(warnings)) {
    page.prose(" ! ", sentence, Ink::caution);
  }
}

/// The plots of a result's card, but the one that stands where its map would.
void add_plots(Page& page, const ProbeResult& result, const DeviceInfo& device,
               const Pictures& pictures) {
  const bool has_first = result.view.kind == ViewKind::heat_map && pictures.maps.empty();
  bool is_first = true;
  for (const TitledChart& plot : charts_of_plots(result, device)) {
    if (!(is_first && has_first)) {
      page.blank();
      page.prose(" ", fmt::format("{}: {}", plot.title, plot.chart.y_title), Ink::faint);
      draw_chart(page, plot.chart);
    }
    is_first = false;
  }
}

void add_result(Page& page, const ProbeResult& result, const DeviceInfo& device,
                const TableStyle& style, Form form) {
  add_result_heading(page, result, "", form);
  const Pictures pictures = pictures_of(result, device);
  draw_stacks(page, result.findings, form);
  if (!pictures.stacks.empty() && !without_stacks(result.findings).empty()) page.blank();
  add_findings(page, result.findings, form);
  if (const std::string failures = failures_text(result); !failures.empty()) {
    page.prose(" ! ", failures, Ink::caution);
  }
  if (style.advice) add_warnings(page, result.warnings);
  for (const HeatMap& map : pictures.maps) draw_heat_map(page, map, form);
  if (!pictures.chart.series.empty()) {
    page.blank();
    page.prose(" ", title_of(pictures.chart), Ink::faint);
    draw_chart(page, pictures.chart);
  }
  if (form != Form::whole) return;
  if (const Chart beside = beside_chart(result); !beside.series.empty()) {
    page.blank();
    page.prose(" ", beside.y_title + " of each point", Ink::faint);
    draw_chart(page, beside);
  }
  add_plots(page, result, device, pictures);
  add_points(page, result, device);
}

void add_run(Page& page, const Run& run, const TableStyle& style, bool is_alone) {
  const Form form = form_of(run, style);
  const bool has_blocks = is_alone || form == Form::whole;
  const bool is_short = form == Form::brief || !has_blocks;
  const std::size_t hidden_levels = add_card(page, card_of(run), is_short && style.advice);
  if (form == Form::whole) {
    add_provenance(page, run);
  } else if (!is_short) {
    page.prose(" timed by  ", timer_text(run.device), Ink::faint);
  }
  if (style.advice && !is_short) add_warnings(page, run.warnings);
  if (run.results.empty()) page.prose("    ", "nothing was measured", Ink::faint);
  if (!has_blocks) return;
  if (form == Form::brief) return add_brief_blocks(page, run, style, hidden_levels);
  for (const ProbeResult& result : run.results) {
    page.blank();
    add_result(page, result, run.device, style, form);
  }
}

}  // namespace
}  // namespace report

std::string render_table(std::span<const Run> runs, const TableStyle& style) {
  // More cards than these are no shorter than the table.
  constexpr std::size_t max_cards = 4;
  report::Page page(style);
  const bool is_alone = runs.size() == 1;
  const bool has_cards = runs.size() <= max_cards || style.all_points;
  bool is_first = true;
  for (const Run& run : runs) {
    if (!has_cards) break;
    if (!is_first) page.blank();
    is_first = false;
    report::add_run(page, run, style, is_alone);
  }
  if (is_alone || runs.empty()) return page.text();
  if (has_cards) page.blank();
  report::add_side_by_side(page, runs,
                           style.all_points ? report::Form::whole : report::Form::usual);
  return page.text();
}

}  // namespace clprobe
