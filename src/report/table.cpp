// SPDX-License-Identifier: Apache-2.0
// The table for the terminal: the card of each device, then a block per probe.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/report.hpp"
#include "report/card.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/heat_map.hpp"
#include "report/page.hpp"
#include "report/stacks.hpp"
#include "report/table_sections.hpp"
#include "report/thread_latency.hpp"
#include "text/text.hpp"

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

/// "24 points, 2 failed".
std::string points_text(const ProbeResult& result) {
  const auto failed = std::count_if(result.points.begin(), result.points.end(),
                                    [](const Point& point) { return !point.failure.empty(); });
  const std::string text = format_count(result.points.size(), "point");
  return failed == 0 ? text : fmt::format("{}, {} failed", text, failed);
}

/// As much as fits into two lines: a driver's message can be a page.
std::string beginning_of(const std::string& text, int width, std::string_view mark) {
  constexpr std::size_t max_lines = 2;
  const std::vector<std::string> lines = wrap(text, width);
  if (lines.size() <= max_lines) return text;
  return fmt::format("{} {} {}", lines[0],
                     cut_to_width(lines[1], width - display_width(mark) - 1, ""), mark);
}

// "latency  what is drawn ----------- 81 points, 243 samples in 5.21 s"
void add_result_heading(Page& page, const ProbeResult& result, std::string_view what, Form form) {
  std::vector<Span> spans{{page.show(result.probe) + " ", Ink::heading}};
  const bool is_short = form == Form::brief && result.status == Status::ok;
  const std::string text = page.show(is_short ? points_text(result) : result_text(result));
  int rule = page.width() - display_width(spans[0].text) - display_width(text) - 1;
  if (result.status != Status::ok || rule < 3) {
    page.line(spans);
    const std::string shown =
        form == Form::brief ? beginning_of(text, page.width() - 4, page.show("…")) : text;
    page.prose("    ", shown, result.status == Status::ok ? Ink::faint : Ink::failure);
    return;
  }
  const std::string drawn = page.show(what) + " ";
  constexpr int min_rule = 2;
  if (!what.empty() && display_width(drawn) + min_rule <= rule) {
    spans.push_back({drawn});
    rule -= display_width(drawn);
  }
  std::string dashes;
  for (int i = 0; i < rule; ++i) dashes += page.is_unicode() ? "─" : "-";
  spans.push_back({dashes + " " + text, Ink::faint});
  page.line(spans);
}

void add_warnings(Page& page, const std::vector<Warning>& warnings) {
  for (const std::string& sentence : warning_sentences(warnings)) {
    page.prose(" ! ", sentence, Ink::caution);
  }
}

/// What of a result is drawn: bars, maps or curves.
struct Pictures {
  std::vector<std::vector<Stack>> stacks{};
  std::vector<HeatMap> maps{};
  Chart chart{};
};

Pictures pictures_of(const ProbeResult& result, const DeviceInfo& device) {
  Pictures pictures{.stacks = views_of(result.findings)};
  if (!pictures.stacks.empty()) return pictures;
  pictures.maps = heat_maps_of(result, device);
  if (pictures.maps.empty()) pictures.chart = chart_of(result, device);
  return pictures;
}

/// "time of an access by working set: global".
std::string title_of(const Pictures& pictures) {
  if (!pictures.stacks.empty()) return view_title(pictures.stacks.front().front().view);
  if (!pictures.maps.empty()) return pictures.maps.front().title;
  if (pictures.chart.series.empty()) return {};
  return fmt::format("{} by {}: {}", pictures.chart.y_title, parameter_title(pictures.chart.x_name),
                     pictures.chart.series.front().name);
}

void add_short_rows(Page& page, const ProbeResult& result) {
  const std::vector<CardLine> rows = short_rows(result);
  int width = 0;
  for (const CardLine& row : rows) width = std::max(width, display_width(page.show(row.topic)));
  width = std::min(width, page.width() / 3);
  for (const CardLine& row : rows) {
    const std::string topic = cut_to_width(page.show(row.topic), width, page.show("…"));
    page.prose(" " + pad_right(topic, width) + "  ", row.text, Ink::plain);
  }
}

// A picture that is low, and a line per series.
void add_brief(Page& page, const ProbeResult& result, const DeviceInfo& device) {
  const Pictures pictures = pictures_of(result, device);
  add_result_heading(page, result, title_of(pictures), Form::brief);
  draw_stacks(page, result.findings, Form::brief);
  if (!pictures.maps.empty()) draw_heat_map(page, pictures.maps.front(), Form::brief);
  if (!pictures.chart.series.empty()) draw_low_chart(page, pictures.chart);
  add_short_rows(page, result);
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
    draw_chart(page, pictures.chart);
  }
  if (form != Form::whole) return;
  if (const Chart variance = variance_chart(result); !variance.series.empty()) {
    page.blank();
    page.prose(" ", "variance of each point and its two neighbours, in square cycles", Ink::faint);
    draw_chart(page, variance);
  }
  add_points(page, result, device);
}

void add_run(Page& page, const Run& run, const TableStyle& style, bool is_alone) {
  const Form form = form_of(run, style);
  const bool has_blocks = is_alone || form == Form::whole;
  const bool is_short = form == Form::brief || !has_blocks;
  add_card(page, card_of(run), is_short && style.advice);
  if (form == Form::whole) {
    add_provenance(page, run);
  } else if (!is_short) {
    page.prose(" timed by  ", timer_text(run.device), Ink::faint);
  }
  if (style.advice && !is_short) add_warnings(page, run.warnings);
  if (run.results.empty()) page.prose("    ", "nothing was measured", Ink::faint);
  if (!has_blocks) return;
  bool is_first = true;
  for (const ProbeResult& result : run.results) {
    // The rules between short blocks part them well enough.
    if (is_first || form != Form::brief) page.blank();
    is_first = false;
    if (form == Form::brief) {
      add_brief(page, result, run.device);
    } else {
      add_result(page, result, run.device, style, form);
    }
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
