// SPDX-License-Identifier: Apache-2.0
// A comparison as an HTML page: summary, changed rows, and overlaid curves.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "present/api/report.hpp"
#include "present/chart.hpp"
#include "present/comparison.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "present/html_page.hpp"
#include "present/safe_text.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

/// Numeric parameters in a point's key, by name.
using Coordinates = std::map<std::string, double, std::less<>>;

/// Returns the parameters in `key` whose values are finite numbers.
Coordinates coordinates_of(std::string_view key) {
  Coordinates found;
  for (const auto& [name, digits] : parts_of_key(key)) {
    double value = 0.0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_number = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    if (is_number && std::isfinite(value)) found.emplace(name, value);
  }
  return found;
}

/// Curves over one parameter, in one unit. A curve is named after its series; the index of its run
/// selects its colour, dashes and marks.
struct Lines {
  std::string along{};
  std::string unit{};
  Scale scale{Scale::logarithmic};
  std::vector<ChartSeries> lines{};
};

/// Returns `declared` if it varies, or else the parameter with most values; empty if none varies.
std::string along_of(const std::vector<Coordinates>& points, const std::string& declared) {
  std::map<std::string, std::set<double>> values;
  for (const Coordinates& point : points) {
    for (const auto& [name, value] : point) {
      if (value > 0.0) values[name].insert(value);
    }
  }
  const auto wanted = values.find(declared);
  if (wanted != values.end() && wanted->second.size() > 1) return declared;
  std::string most;
  std::size_t count = 1;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() <= count) continue;
    most = name;
    count = distinct.size();
  }
  return most;
}

/// Returns a parameter that distinguishes all points with equal x, preferably `declared`. Empty if
/// all x differ; nothing if no parameter alone distinguishes these points.
std::optional<std::string> apart_by(const std::vector<Coordinates>& points,
                                    const std::string& along, const std::string& declared) {
  const auto is_unique = [&](const std::string& name) {
    std::set<std::pair<double, double>> seen;
    return std::ranges::all_of(points, [&](const Coordinates& point) {
      const auto x = point.find(along);
      const auto other = point.find(name);
      if (x == point.end()) return true;
      return seen.emplace(x->second, other == point.end() ? 0.0 : other->second).second;
    });
  };
  if (is_unique("")) return std::string();
  std::set<std::string> names{};
  for (const Coordinates& point : points) {
    for (const auto& [name, value] : point) names.insert(name);
  }
  if (names.contains(declared) && is_unique(declared)) return declared;
  for (const std::string& name : names) {
    if (name != along && is_unique(name)) return name;
  }
  return std::nullopt;
}

/// Returns the lines of a curve, and sets `along` to the parameter of x: a line per value of a
/// second parameter if one varies, or else a single line.
std::vector<ChartSeries> lines_of(const ComparedCurve& curve, const View& view, std::size_t run,
                                  std::string& along) {
  std::vector<Coordinates> points;
  points.reserve(curve.points.size());
  for (const ComparedPoint& point : curve.points) points.push_back(coordinates_of(point.key));
  along = along_of(points, view.x);
  if (along.empty()) return {};
  const std::optional<std::string> second = apart_by(points, along, view.y);
  if (!second) return {};
  std::map<double, std::map<double, double>> values;  // values by second parameter and x
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto x = points[i].find(along);
    if (x == points[i].end() || !(x->second > 0.0) || !(curve.points[i].value > 0.0)) continue;
    const auto other = points[i].find(*second);
    values[other == points[i].end() ? 0.0 : other->second][x->second] = curve.points[i].value;
  }
  std::vector<ChartSeries> lines;
  for (const auto& [which, by_place] : values) {
    if (by_place.size() < 2) continue;
    ChartSeries line{.name = curve.series, .look = run};
    if (!second->empty()) {
      line.name +=
          fmt::format(", {} {}", parameter_title(*second), coordinate_text(*second, which));
    }
    for (const auto& [x, y] : by_place) line.points.push_back({.x = x, .y = y});
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<Lines> all_lines(std::span<const RunDigest> runs, std::string_view probe,
                             std::string& title) {
  std::vector<Lines> all;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const ComparedResult& result : runs[run].results) {
      if (result.probe != probe) continue;
      if (title.empty()) title = result.view.value_title;
      for (const ComparedCurve& curve : result.curves) {
        std::string along;
        std::vector<ChartSeries> lines = lines_of(curve, result.view, run, along);
        if (lines.empty()) continue;
        auto place = std::ranges::find_if(
            all, [&](const Lines& each) { return each.along == along && each.unit == curve.unit; });
        if (place == all.end()) {
          place = all.insert(all.end(), Lines{along, curve.unit, result.view.scale, {}});
        }
        std::move(lines.begin(), lines.end(), std::back_inserter(place->lines));
      }
    }
  }
  return all;
}

/// Returns the y of a run's line at `x`; nothing if the line has no point there.
std::optional<double> value_at(const Lines& all, const std::string& series, std::size_t run,
                               double x) {
  for (const ChartSeries& line : all.lines) {
    if (line.look != run || line.name != series) continue;
    for (const ChartPoint& point : line.points) {
      if (point.x == x) return point.y;
    }
  }
  return std::nullopt;
}

/// Returns the scale of a chart of ratios: linear, or logarithmic if the range of the ratios and 1
/// exceeds a factor of 4.
Scale scale_of_ratios(const Chart& chart) {
  constexpr double far = 4.0;
  double low = 1.0;
  double high = 1.0;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
  }
  return high > far * low ? Scale::logarithmic : Scale::linear;
}

/// Adds a figure of a series' lines, and a figure of the lines' ratios to the baseline.
void add_figures(const Lines& all, const std::string& series, std::string_view probe,
                 const std::string& y_title, std::size_t baseline,
                 const std::vector<std::string>& names, std::vector<Figure>& figures) {
  Chart values{.x_name = all.along, .y_unit = all.unit, .y_title = y_title, .scale = all.scale};
  Chart ratios{.x_name = all.along,
               .y_unit = "",
               .y_title = "ratio to " + run_letter(baseline),
               .scale = all.scale};
  for (ChartSeries line : all.lines) {
    if (line.name != series) continue;
    line.name = names[*line.look];
    ChartSeries ratio{.name = line.name, .look = line.look};
    for (ChartPoint& point : line.points) {
      const std::optional<double> base = value_at(all, series, baseline, point.x);
      if (!base) continue;
      point.remark = ratio_text(point.y / *base) + "x " + run_letter(baseline);
      ratio.points.push_back({.x = point.x, .y = point.y / *base});
    }
    values.series.push_back(std::move(line));
    if (!ratio.points.empty()) ratios.series.push_back(std::move(ratio));
  }
  ratios.y_scale = scale_of_ratios(ratios);
  for (const Chart* const chart : {&values, &ratios}) {
    if (chart->series.empty()) continue;
    const PictureText text{
        .title = fmt::format("{}: {}", printable(words(probe)), printable(series)),
        .subtitle = fmt::format("{} by {}", chart->y_title, printable(parameter_title(all.along))),
        .description = fmt::format("{} curves.", chart->series.size()),
        .has_values = true};
    figures.push_back({fmt::format("{}, {}", series, text.subtitle), draw_picture(*chart, text),
                       !figures.empty()});
  }
}

}  // namespace

std::vector<Figure> comparison_figures(std::span<const RunDigest> runs, std::size_t baseline,
                                       std::string_view probe,
                                       const std::vector<std::string>& names) {
  std::string title;
  std::vector<Figure> figures;
  for (const Lines& lines : all_lines(runs, probe, title)) {
    std::vector<std::string> drawn;
    for (const ChartSeries& line : lines.lines) {
      if (contains(drawn, line.name)) continue;
      drawn.push_back(line.name);
      add_figures(lines, line.name, probe, title.empty() ? "value" : title, baseline, names,
                  figures);
    }
  }
  return figures;
}

namespace {

// Maximum number of runs for which the page shows unchanged rows; the CSV download always has these
// rows.
constexpr std::size_t max_runs_with_all_rows = 8;
constexpr std::size_t max_cards = 24;

/// Returns a name per run, such as "B Intel Xeon, 2026-11-25". A long model name is cut, since the
/// words after it distinguish the runs.
std::vector<std::string> names_of(std::span<const RunDigest> runs) {
  constexpr int longest_model = 40;
  std::vector<std::string> names;
  for (std::vector<std::string>& parts : run_names(runs)) {
    parts.front() = cut_to_width(printable(parts.front()), longest_model, "…");
    names.push_back(fmt::format("{} {}", run_letter(names.size()),
                                printable(fmt::format("{}", fmt::join(parts, ", ")))));
  }
  return names;
}

std::string with_swatch(std::size_t run, std::string_view name) {
  return swatch(run) + html_text(name);
}

/// Returns the card of a run: the run's changes, grouped by verdict, and notes.
std::string summary_card(const Comparison& comparison, std::span<const RunDigest> runs,
                         std::size_t run, const std::string& name) {
  const auto quiet = [](std::string_view text) {
    return text.empty() ? "" : fmt::format("<p class=\"quiet\">{}</p>\n", html_text(text));
  };
  std::string html = quiet(run_origin(runs[run]));
  const std::vector<SummaryPart> parts = summary_parts(comparison, run);
  for (const SummaryPart& part : parts) {
    html += fmt::format("<div class=\"verdicts\"><span class=\"verdict {0}\">{0}</span>\n<ul>\n",
                        to_word(part.verdict));
    for (const std::string& text : part.texts) {
      html += fmt::format("<li>{}</li>\n", html_text(text));
    }
    html += "</ul></div>\n";
  }
  if (parts.empty()) html += "<p>No change.</p>\n";
  html += quiet(settled_text(comparison.counts[run]));
  for (const std::string& note : run_notes(comparison, runs, run)) html += quiet(note);
  return card_article(run, name, html);
}

/// Returns the indexes of the runs that have a card, in increasing order. If more than `max_cards`
/// runs are compared, only those with the most changes have a card, and come in that order.
std::vector<std::size_t> runs_with_cards(const Comparison& comparison) {
  std::vector<std::size_t> shown = runs_by_changes(comparison);
  if (shown.size() > max_cards) {
    shown.resize(max_cards);
  } else {
    std::ranges::sort(shown);
  }
  return shown;
}

std::string summary_section(const Comparison& comparison, std::span<const RunDigest> runs,
                            const std::vector<std::string>& names) {
  std::string cards;
  const std::vector<std::size_t> shown = runs_with_cards(comparison);
  for (const std::size_t run : shown) cards += summary_card(comparison, runs, run, names[run]);
  std::string html =
      fmt::format("<p>Baseline: {}. Changes up to {:.3g} % are ignored.</p>\n{}",
                  with_swatch(comparison.baseline, run_letter(comparison.baseline) + ": " +
                                                       run_text(runs[comparison.baseline])),
                  100.0 * comparison.threshold, in_cards(cards));
  if (const std::size_t rest = runs.size() - 1 - shown.size(); rest > 0) {
    html += fmt::format(
        "<p>{} other runs have no card; the cards show the runs with the most changes.</p>\n",
        rest);
  }
  return section_html("summary", "Summary", html);
}

/// Returns all judged findings: first the changes, as sorted by changes_of(), then the findings
/// without a change, in the order of the rows. With more than `max_runs_with_all_rows` runs,
/// returns only the changes.
std::vector<Change> all_changes(const Comparison& comparison) {
  std::vector<Change> changes = changes_of(comparison);
  if (comparison.counts.size() > max_runs_with_all_rows) return changes;
  std::set<std::pair<const ComparedRow*, std::size_t>> seen;
  for (const Change& change : changes) seen.emplace(change.row, change.run);
  for (const ComparedRow& row : comparison.rows) {
    for (std::size_t run = 0; run < row.cells.size(); ++run) {
      const bool is_judged = run != comparison.baseline && !row.cells[run].judgement.reason.empty();
      if (is_judged && !seen.contains({&row, run})) changes.push_back({&row, run});
    }
  }
  return changes;
}

std::string changes_section(const Comparison& comparison) {
  const Table table = changes_table(comparison, all_changes(comparison), true);
  return section_html(
      "changes", "Findings, worse ones first",
      "<div id=\"filters\"></div>\n" +
          (table.rows.empty() ? "<p>No finding has a verdict.</p>\n" : to_html(table)),
      " class=\"probe\"");
}

std::string unmatched_section(const Comparison& comparison) {
  if (comparison.unmatched.empty()) return {};
  std::string items;
  for (const UnmatchedLine& each : unmatched_lines(comparison)) {
    items +=
        fmt::format("<li data-probe=\"{}\">{}</li>\n", html_text(each.probe), html_text(each.text));
  }
  return section_html("unmatched", "Not matched",
                      fmt::format("<details open><summary>Without a counterpart: {}</summary>\n<ul "
                                  "class=\"plain\">\n{}</ul></details>\n",
                                  comparison.unmatched.size(), items),
                      " class=\"probe\"");
}

std::string curves_list(const Comparison& comparison, const std::string& probe) {
  std::string items;
  for (const CurveSummary& curve : comparison.curves) {
    if (curve.probe != probe) continue;
    items += fmt::format("<li>{} {}</li>\n", with_swatch(curve.run, run_letter(curve.run)),
                         html_text(curve_text(curve)));
  }
  if (items.empty()) return {};
  return fmt::format(
      "<details><summary>Curves compared with the baseline, in words</summary>\n<ul "
      "class=\"plain\">\n{}</ul></details>\n",
      items);
}

std::string curves_section(const Comparison& comparison, const std::string& probe,
                           std::span<const Figure> figures, std::size_t number) {
  return section_html(fmt::format("curves-{}", number), html_text(words(probe)),
                      figures_html(figures) + curves_list(comparison, probe),
                      fmt::format(R"( class="probe" data-probe="{}")", html_text(probe)));
}

constexpr std::string_view data_text =
    "<section id=\"data\" aria-labelledby=\"data-title\">\n<h2 id=\"data-title\">Data</h2>\n<p>The "
    "files contain all verdicts with their numbers, as <code>clprobe compare --json</code> and "
    "<code>-f csv</code> write them. The page loads nothing from the network.</p>\n<p "
    "id=\"downloads\"></p>\n</section>\n";

/// Returns the facts that distinguish a run from runs with the same device model, such as the
/// driver or date; the run's letter if there are no such facts.
std::string own_name(std::span<const RunDigest> runs, std::size_t run) {
  std::vector<std::string> parts = run_names(runs)[run];
  parts.erase(parts.begin());  // removes the model
  const bool has_own_name = !parts.empty() && !parts.front().starts_with('#');
  return has_own_name ? fmt::format("{}", fmt::join(parts, ", ")) : run_letter(run);
}

std::string heading_of(std::span<const RunDigest> runs, std::size_t baseline) {
  const auto name = [&](std::size_t run) {
    return runs[run].label.empty() ? runs[run].device : runs[run].label;
  };
  if (runs.size() == 2) {
    const std::string device = name(1 - baseline);
    if (device == name(baseline)) {
      return fmt::format("{}: {} compared with {}", device, own_name(runs, 1 - baseline),
                         own_name(runs, baseline));
    }
    return fmt::format("{} compared with {}", device, name(baseline));
  }
  return fmt::format("{} runs compared with {}", runs.size() - 1, name(baseline));
}

}  // namespace

std::string html_of_comparison(const Comparison& comparison, std::span<const RunDigest> runs,
                               const TableStyle& style) {
  const std::vector<std::string> names = names_of(runs);
  std::string sections;
  std::string links = R"(<a href="#summary">summary</a><a href="#changes">findings</a>)";
  std::vector<std::string> probes;
  for (const RunDigest& run : runs) {
    for (const ComparedResult& result : run.results) {
      if (contains(probes, result.probe)) continue;
      const std::vector<Figure> figures =
          comparison_figures(runs, comparison.baseline, result.probe, names);
      if (figures.empty()) continue;
      links += fmt::format("<a href=\"#curves-{}\">{}</a>", probes.size(),
                           html_text(words(result.probe)));
      sections += curves_section(comparison, result.probe, figures, probes.size());
      probes.push_back(result.probe);
    }
  }
  const std::string heading = heading_of(runs, comparison.baseline);
  const std::string files =
      fmt::format("[{},{}]",
                  data_file("All verdicts (JSON)", "clprobe-comparison.json", "application/json",
                            formats::json.comparison(comparison, runs, style)),
                  data_file("All verdicts (CSV)", "clprobe-comparison.csv", "text/csv",
                            formats::csv.comparison(comparison, runs, style)));
  return html_of({.title = "clprobe: " + heading,
                  .heading = html_text(printable(heading)),
                  .lead = html_text(counts_text(total_counts(comparison))),
                  .navigation = links + R"(<a href="#data">data</a>)",
                  .main = summary_section(comparison, runs, names) + changes_section(comparison) +
                          sections + unmatched_section(comparison) + std::string(data_text),
                  .without_scripts = "Without JavaScript the rows cannot be filtered. The page "
                                     "shows all verdicts.",
                  .files = files});
}

}  // namespace clprobe::report
