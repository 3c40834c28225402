// SPDX-License-Identifier: Apache-2.0
// The format `table`: the card of each device, then a section per probe.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/stacks.hpp"
#include "clprobe/units.hpp"
#include "present/api/page.hpp"
#include "present/api/report.hpp"
#include "present/blocks.hpp"
#include "present/card.hpp"
#include "present/chart.hpp"
#include "present/comparison.hpp"
#include "present/curves.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "present/fleet.hpp"
#include "present/heat_map.hpp"
#include "present/side_by_side.hpp"
#include "present/stacks.hpp"
#include "text/api/text.hpp"

namespace clprobe {
namespace report {
namespace {

constexpr int indent = 1;

// Returns a number with four digits. Findings have three, but lists of points must show smaller
// differences.
std::string four_digits(double value) {
  const bool is_long = std::fabs(value) >= 999.95;
  return is_long ? fmt::format("{:.0f}", value) : fmt::format("{:#.4g}", value);
}

// Returns the parameters that vary between the points. Constant parameters are appended to `same`,
// the text above the table.
std::vector<std::string> columns_that_vary(const std::vector<const Point*>& points,
                                           std::string& same) {
  Names names;
  for (const Point* point : points) names.add(*point);
  std::vector<std::string> varying;
  for (const std::string& name : names.in_order()) {
    const Value* const first = find_known(*points.front(), name);
    const bool varies = std::ranges::any_of(points, [&](const Point* point) {
      const Value* const value = find_known(*point, name);
      return (value == nullptr) != (first == nullptr) || (value != nullptr && *value != *first);
    });
    if (varies) {
      varying.push_back(name);
    } else {
      same += fmt::format("{}{} {}", same.empty() ? "" : ", ", parameter_title(name),
                          parameter_text(name, *first));
    }
  }
  return varying;
}

/// Returns the title of the column of values: "ns" for times, a rate such as "GB/s" for rates.
const char* value_column(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "ns";
    case Unit::bytes_per_second:
      return "GB/s";
    case Unit::operations_per_second:
      return "Gop/s";
    case Unit::hertz:
      return "GHz";
  }
  return "";
}

Row point_row(const Page& page, const Point& point, const std::vector<std::string>& names,
              const DeviceInfo& device, bool is_rate) {
  Row row;
  for (const std::string& name : names) {
    const Value* const value = find_known(point, name);
    row.cells.push_back(value == nullptr ? "" : page.show(parameter_text(name, *value)));
  }
  if (!point.failure.empty()) row.remark = page.show("failed: " + point.failure);
  const std::optional<Estimate> time = estimate(point, device);
  if (!time) {
    if (row.remark.empty()) row.remark = "its samples yield no time";
    return row;
  }
  // Bytes per nanosecond equal gigabytes per second.
  const auto shown = [&](double ns) { return four_digits(is_rate ? 1.0 / ns : ns); };
  const Interval& ns = time->ns_interval;
  row.cells.push_back(shown(time->ns));
  row.cells.push_back(page.show(
      fmt::format("{}–{}", shown(is_rate ? ns.high : ns.low), shown(is_rate ? ns.low : ns.high))));
  if (!is_rate) row.cells.push_back(time->cycles ? four_digits(*time->cycles) : "");
  row.cells.push_back(fmt::format("{}", point.samples.size()));
  return row;
}

/// Adds a table per series with a row per point: the parameters that vary, the time or rate with
/// its interval, the cycles (times only), the number of samples, and the reason if the point
/// failed.
void add_points(Page& page, const ProbeResult& result, const DeviceInfo& device) {
  const std::string x = x_of(result);
  const bool is_rate = result.unit != Unit::seconds;
  for (const std::string& series : series_of(result)) {
    std::vector<const Point*> points;
    for (const Point& point : result.points) {
      if (point.series == series) points.push_back(&point);
    }
    std::ranges::stable_sort(points, [&](const Point* a, const Point* b) {
      return numeric(*a, x).value_or(0.0) < numeric(*b, x).value_or(0.0);
    });
    std::string same;
    const std::vector<std::string> names = columns_that_vary(points, same);
    std::vector<Column> columns;
    columns.reserve(names.size() + 4);
    for (const std::string& name : names) {
      columns.push_back(
          {page.show(parameter_title(name)), numeric(*points.front(), name).has_value()});
    }
    for (const char* title : {value_column(result.unit), "low-high", "cycles", "samples"}) {
      const bool is_time = std::string_view(title) == "cycles";
      if (!is_rate || !is_time) columns.push_back({title, true});
    }
    std::vector<Row> rows;
    rows.reserve(points.size());
    for (const Point* point : points) {
      rows.push_back(point_row(page, *point, names, device, is_rate));
    }
    page.blank();
    page.line({{" " + page.show(series), Ink::heading}});
    if (!same.empty()) page.prose(" ", same, Ink::faint);
    page.table(columns, rows, indent);
  }
}

/// Pictures of a result: stacked bars, heat maps or a chart. If a probe of heat maps has no map,
/// the chart is the first plot of the probe's card that has points.
struct Pictures {
  std::vector<std::vector<Stack>> stacks{};
  std::vector<Grid> maps{};
  Chart chart{};
};

Pictures pictures_of(const ProbeResult& result, const DeviceInfo& device) {
  Pictures pictures{.stacks = views_of(result.findings)};
  // A result with stacks has no other picture, unless its probe usually has a curve.
  if (!pictures.stacks.empty() && result.view.kind != ViewKind::curve) return pictures;
  pictures.maps = grids_of(result, device);
  std::erase_if(pictures.maps, [](const Grid& grid) { return !is_map(grid); });
  if (pictures.maps.empty()) pictures.chart = chart_without_map(result, device);
  return pictures;
}

/// Returns the number of points, "24 points, 2 failed", or of findings if there are no points.
std::string points_text(const ProbeResult& result) {
  const auto failed = std::ranges::count_if(
      result.points, [](const Point& point) { return !point.failure.empty(); });
  if (result.points.empty()) return format_count(result.findings.size(), "finding");
  const std::string text = format_count(result.points.size(), "point");
  return failed == 0 ? text : fmt::format("{}, {} failed", text, failed);
}

/// Returns the part of a text that fits into two lines of `width` columns, followed by `mark`,
/// since a driver's message can be a page long. Returns a text that fits unchanged.
std::string beginning_of(const std::string& text, int width, std::string_view mark) {
  constexpr std::size_t max_lines = 2;
  const std::vector<std::string> lines = wrap(text, width);
  if (lines.size() <= max_lines) return text;
  return fmt::format("{} {} {}", lines[0],
                     cut_to_width(lines[1], width - display_width(mark) - 1, ""), mark);
}

/// Adds the heading of a result: "latency  title ----------- 81 points, 243 samples in 5.21 s".
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

/// Returns the title of a result's picture for a heading that begins with the probe's name. The
/// title does not repeat the name: after `latency`, it is "by working set, global memory".
std::string title_of(const Pictures& pictures, const std::string& probe) {
  if (!pictures.stacks.empty()) return view_title(pictures.stacks.front().front().view);
  if (!pictures.maps.empty()) return map_title(pictures.maps.front());
  if (pictures.chart.series.empty()) return {};
  std::string title = title_of(pictures.chart);
  title.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(title.front())));
  const std::string name = words(probe) + " ";
  return title.starts_with(name) ? title.substr(name.size()) : title;
}

/// Section of a report in parts that are shown or omitted, depending on the number of free lines on
/// the screen.
struct Section {
  std::string name{};
  std::string heading{};
  std::string picture{};
  std::vector<std::string> rows{};
  std::size_t shown_rows{0};
  bool has_picture{false};

  /// True if the section is shown: a picture or a row was chosen, or the section consists only of a
  /// heading.
  [[nodiscard]] bool is_shown() const {
    return has_picture || shown_rows > 0 || (picture.empty() && rows.empty());
  }
  [[nodiscard]] bool is_complete() const {
    return has_picture == !picture.empty() && shown_rows == rows.size();
  }
};

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::vector<std::string> short_row_texts(const ProbeResult& result, const TableStyle& style) {
  const Page ruler(style);
  const std::vector<CardLine> rows = short_rows(result);
  int width = 0;
  for (const CardLine& row : rows) width = std::max(width, display_width(ruler.show(row.topic)));
  width = std::min(width, ruler.width() / 3);
  std::vector<std::string> texts;
  for (const CardLine& row : rows) {
    Page page(style);
    const std::string topic = cut_to_width(page.show(row.topic), width, page.show("…"));
    page.prose(" " + pad_right(topic, width) + "  ", row.text, Ink::plain);
    texts.push_back(page.text());
  }
  return texts;
}

Section section_of(const ProbeResult& result, const DeviceInfo& device, const TableStyle& style) {
  const Pictures pictures = pictures_of(result, device);
  Page heading(style);
  add_result_heading(heading, result, title_of(pictures, result.probe), Form::brief);
  Page picture(style);
  draw_stacks(picture, result.findings, Form::brief);
  if (!pictures.maps.empty()) draw_heat_map(picture, pictures.maps.front(), Form::brief);
  if (!pictures.chart.series.empty()) draw_low_chart(picture, pictures.chart);
  return {.name = heading.show(result.probe),
          .heading = heading.text(),
          .picture = picture.text(),
          .rows = short_row_texts(result, style)};
}

/// Chooses the parts to show in at most `room` lines. Up to three rows of each section come first,
/// then pictures in the order of the probes, then the remaining rows.
void choose(std::vector<Section>& sections, std::size_t room) {
  constexpr std::size_t usual_rows = 3;
  std::size_t used = 0;
  for (Section& each : sections) {
    each.shown_rows = 0;
    each.has_picture = false;
    if (each.is_shown()) used += lines_in(each.heading);
  }
  const auto has_room = [&](const Section& section, const std::string& part) {
    const std::size_t lines = lines_in(part) + (section.is_shown() ? 0 : lines_in(section.heading));
    if (used + lines > room) return false;
    used += lines;
    return true;
  };
  const auto add_rows = [&](Section& section, std::size_t most) {
    while (section.shown_rows < std::min(most, section.rows.size()) &&
           has_room(section, section.rows[section.shown_rows])) {
      ++section.shown_rows;
    }
  };
  for (std::size_t most = 1; most <= usual_rows; ++most) {
    for (Section& each : sections) add_rows(each, most);
  }
  for (Section& each : sections) {
    each.has_picture = !each.picture.empty() && has_room(each, each.picture);
  }
  for (Section& each : sections) add_rows(each, each.rows.size());
}

bool are_complete(const std::vector<Section>& sections) {
  return std::ranges::all_of(sections, [](const Section& each) { return each.is_complete(); });
}

/// Returns a list of the omitted parts: "stalls; charts of banks, inflight; rows of transfer".
std::string left_out(const std::vector<Section>& sections) {
  std::vector<std::string> whole;
  std::vector<std::string> pictures;
  std::vector<std::string> rows;
  for (const Section& each : sections) {
    if (!each.is_shown()) {
      whole.push_back(each.name);
      continue;
    }
    if (!each.has_picture && !each.picture.empty()) pictures.push_back(each.name);
    if (each.shown_rows < each.rows.size()) rows.push_back(each.name);
  }
  std::vector<std::string> parts;
  if (!whole.empty()) parts.push_back(fmt::format("{}", fmt::join(whole, ", ")));
  if (!pictures.empty()) parts.push_back(fmt::format("charts of {}", fmt::join(pictures, ", ")));
  if (!rows.empty()) parts.push_back(fmt::format("rows of {}", fmt::join(rows, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Adds a section per result. The whole page has at most 60 lines, or 120 if it is narrower than 80
/// columns. The last line says how to show omitted parts.
void add_sections(Page& page, const Run& run, const TableStyle& style) {
  constexpr std::size_t max_lines = 60;
  constexpr std::size_t hint_lines = 4;
  constexpr int usual_width = 80;
  const std::size_t most = page.width() < usual_width ? 2 * max_lines : max_lines;
  std::vector<Section> sections;
  sections.reserve(run.results.size());
  for (const ProbeResult& each : run.results) {
    sections.push_back(section_of(each, run.device, style));
  }
  page.blank();
  const std::size_t used = lines_in(page.text());
  const std::size_t room = most > used ? most - used : 0;
  choose(sections, room);
  if (!are_complete(sections)) choose(sections, room > hint_lines ? room - hint_lines : 0);
  for (const Section& each : sections) {
    if (!each.is_shown()) continue;
    page.append(each.heading);
    if (each.has_picture) page.append(each.picture);
    for (std::size_t i = 0; i < each.shown_rows; ++i) page.append(each.rows[i]);
  }
  if (are_complete(sections)) return;
  page.prose("not shown here: ", left_out(sections) + " (`clprobe report FILE PROBE`)", Ink::faint);
}

/// Maximum number of results in the usual form. If a run has more results, each result has only a
/// low chart and a line per series.
constexpr std::size_t max_usual_results = 2;

Form form_of(const Run& run, const TableStyle& style) {
  if (style.all_points) return Form::whole;
  return run.results.size() > max_usual_results ? Form::brief : Form::usual;
}

void add_provenance(Page& page, const Run& run) {
  for (const std::string& fact : device_facts(run.device)) page.prose("    ", fact, Ink::plain);
  page.prose("    ", "timed by " + timer_text(run.device), Ink::faint);
}

/// Adds a result's advice, failures and warnings to the page. If `style.advice` is false, omits the
/// warnings.
void add_notices(Page& page, const std::vector<Prose>& notices, const TableStyle& style) {
  for (const Prose& notice : notices) {
    if (notice.ink == Ink::caution && !style.advice) continue;
    const std::string lead = notice.lead.empty() ? " ! " : " " + page.show(notice.lead) + " ";
    page.prose(lead, notice.text, notice.ink);
  }
}

/// Adds the plots of a result's card, except a plot that is already shown in place of a missing
/// heat map.
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

/// Returns the findings to show: in the whole form all, in other forms all except remarks such as
/// the fit of a model.
std::vector<Finding> shown_findings(std::vector<Finding> findings, Form form) {
  if (form != Form::whole) {
    std::erase_if(findings, [](const Finding& each) { return each.role == Role::remark; });
  }
  return findings;
}

void add_result(Page& page, const ProbeResult& result, const DeviceInfo& device,
                const TableStyle& style, Form form) {
  add_result_heading(page, result, "", form);
  const Pictures pictures = pictures_of(result, device);
  draw_stacks(page, result.findings, form);
  if (!pictures.stacks.empty() && !without_stacks(result.findings).empty()) page.blank();
  for (const Table& table : findings_tables(shown_findings(result.findings, form), "")) {
    add_table(page, table, form);
  }
  add_notices(page, notices_of(result), style);
  for (const Grid& map : pictures.maps) draw_heat_map(page, map, form);
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
  const bool has_results = is_alone || form == Form::whole;
  const bool is_short = form == Form::brief || !has_results;
  add_card(page, card_of(run), is_short && style.advice);
  if (form == Form::whole) {
    add_provenance(page, run);
  } else if (!is_short) {
    page.prose(" timed by  ", timer_text(run.device), Ink::faint);
  }
  if (!is_short) add_notices(page, notices_of(run.warnings), style);
  if (run.results.empty()) page.prose("    ", "nothing was measured", Ink::faint);
  if (!has_results) return;
  if (form == Form::brief) return add_sections(page, run, style);
  for (const ProbeResult& result : run.results) {
    page.blank();
    add_result(page, result, run.device, style, form);
  }
}

}  // namespace
}  // namespace report

namespace {

std::string table_of_runs(std::span<const Run> runs, const TableStyle& style) {
  // Maximum number of runs with cards; more runs have only the common table.
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

std::string table_of_comparison(const Comparison& comparison, std::span<const RunDigest> runs,
                                const TableStyle& style) {
  report::Page page(style);
  const report::Detail detail = style.all_points ? report::Detail::reasons : report::Detail::screen;
  report::add_blocks(page, report::blocks_of(comparison, runs, detail, page.width()),
                     report::Form::usual);
  return page.text();
}

}  // namespace

constexpr Writer formats::table{.name = "table",
                                .ending = ".txt",
                                .runs = table_of_runs,
                                .comparison = table_of_comparison,
                                .survey = report::table_of_survey,
                                .fleet = report::fleet_table};

}  // namespace clprobe
