// SPDX-License-Identifier: Apache-2.0
// A comparison as a page: who is better at what, the rows that changed, and the curves over each
// other. The parts are those of a report's page.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/comparison_report.hpp"
#include "report/comparison_charts.hpp"
#include "report/comparison_text.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/html_page.hpp"
#include "report/safe_text.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace report {
namespace {

// Of more runs than these their settled rows, which nobody reads, are left to the CSV.
constexpr std::size_t few_runs = 8;
constexpr std::size_t max_cards = 24;

/// "B Intel Xeon, 2026-11-25": what tells it apart stands in it, so that the model may be cut.
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

std::string badge(Verdict verdict) {
  return fmt::format("<span class=\"verdict {0}\">{0}</span>", to_word(verdict));
}

/// What one run is better and worse at.
std::string summary_card(const Comparison& comparison, std::span<const RunDigest> runs,
                         std::size_t run, const std::string& name) {
  std::string html =
      fmt::format("<article class=\"card\">\n<h3>{}</h3>\n<p class=\"quiet\">{}</p>\n",
                  with_swatch(run, name), html_text(run_origin(runs[run])));
  const std::vector<SummaryPart> parts = summary_parts(comparison, run);
  for (const SummaryPart& part : parts) {
    std::string items;
    for (const std::string& text : part.texts) {
      items += fmt::format("<li>{}</li>\n", html_text(text));
    }
    html += fmt::format("<div class=\"verdicts\">{}\n<ul>\n{}</ul></div>\n", badge(part.verdict),
                        items);
  }
  if (parts.empty()) html += "<p>No change.</p>\n";
  const std::string rest = settled_text(comparison.counts[run]);
  if (!rest.empty()) html += fmt::format("<p class=\"quiet\">{}</p>\n", html_text(rest));
  for (const std::string& note : run_notes(comparison, runs, run)) {
    html += fmt::format("<p class=\"quiet\">{}</p>\n", html_text(note));
  }
  return html + "</article>\n";
}

/// Those that changed most come first where not all have a card.
std::vector<std::size_t> runs_with_cards(const Comparison& comparison, std::size_t runs) {
  std::vector<std::size_t> shown;
  for (std::size_t run = 0; run < runs; ++run) {
    if (run != comparison.baseline) shown.push_back(run);
  }
  if (shown.size() <= max_cards) return shown;
  const auto changes = [&](std::size_t run) {
    const VerdictCounts& counts = comparison.counts[run];
    return std::pair(counts.worse + counts.different, counts.better);
  };
  std::stable_sort(shown.begin(), shown.end(),
                   [&](std::size_t a, std::size_t b) { return changes(a) > changes(b); });
  shown.resize(max_cards);
  return shown;
}

std::string summary_section(const Comparison& comparison, std::span<const RunDigest> runs,
                            const std::vector<std::string>& names) {
  std::string html = fmt::format(
      "<section id=\"summary\" aria-labelledby=\"summary-title\">\n<h2 "
      "id=\"summary-title\">Summary{}</h2>\n<p>Baseline: {}. Changes up to {:.3g} % are "
      "ignored.</p>\n<div class=\"cards\">\n",
      anchor("summary"),
      with_swatch(comparison.baseline,
                  run_letter(comparison.baseline) + ": " + run_text(runs[comparison.baseline])),
      100.0 * comparison.threshold);
  const std::vector<std::size_t> shown = runs_with_cards(comparison, runs.size());
  for (const std::size_t run : shown) html += summary_card(comparison, runs, run, names[run]);
  html += "</div>\n";
  if (const std::size_t rest = runs.size() - 1 - shown.size(); rest > 0) {
    html += fmt::format("<p>{} other runs have at most as many changes.</p>\n", rest);
  }
  return html + "</section>\n";
}

/// A cell of the comparison as a row of the table.
struct Place {
  const ComparedRow* row{nullptr};
  std::size_t run{0};
};

/// What changed, the worse first; then what did not, in the order of the findings.
std::vector<Place> places_of(const Comparison& comparison, std::size_t runs) {
  std::vector<Place> places;
  std::set<std::pair<const ComparedRow*, std::size_t>> seen;
  for (const Change& change : changes_of(comparison)) {
    places.push_back({change.row, change.run});
    seen.emplace(change.row, change.run);
  }
  if (runs > few_runs) return places;
  for (const ComparedRow& row : comparison.rows) {
    for (std::size_t run = 0; run < row.cells.size(); ++run) {
      const bool is_told = run != comparison.baseline && !row.cells[run].judgement.reason.empty();
      if (is_told && !seen.contains({&row, run})) places.push_back({&row, run});
    }
  }
  return places;
}

std::string value_cell(const ComparedCell& cell) {
  if (!has_content(cell)) return "<td class=\"none\">&#183;</td>";
  const std::string interval =
      cell.finding == nullptr ? std::string() : interval_text(shown_finding(*cell.finding));
  std::string html = fmt::format("<td><em>{}</em>", html_text(cell_text(cell, "no value")));
  if (!interval.empty()) {
    html += fmt::format(" <span class=\"spread\">{}</span>", html_text(interval));
  }
  return html + "</td>";
}

bool is_settled(Verdict verdict) { return verdict == Verdict::same || verdict == Verdict::unclear; }

std::string row_html(const Comparison& comparison, const Place& place, bool has_letters) {
  const ComparedCell& cell = place.row->cells[place.run];
  const Judgement& judged = cell.judgement;
  const Finding& finding = place.row->baseline->finding;
  std::string text = is_settled(judged.verdict) ? verdict_text(cell, finding.unit)
                                                : change_words({place.row, place.run});
  if (judged.is_coarse && !is_settled(judged.verdict)) text += " (no interval)";
  return fmt::format(
      "<tr data-probe=\"{}\" data-verdict=\"{}\"><th scope=\"row\">{}</th>{}<td>{}</td><td "
      "class=\"change {}\">{}</td>{}{}<td>{}</td><td class=\"reason\">{}</td></tr>\n",
      html_text(place.row->probe), to_word(judged.verdict), html_text(row_title(*place.row)),
      has_letters ? fmt::format("<td>{}</td>", run_letter(place.run)) : "", badge(judged.verdict),
      to_word(judged.verdict), html_text(text), value_cell(place.row->cells[comparison.baseline]),
      value_cell(cell), html_text(words(place.row->probe)), html_text(judged.reason));
}

std::string head_html(const Comparison& comparison, std::size_t runs) {
  std::vector<std::string> titles{"finding"};
  if (runs > 2) titles.emplace_back("run");
  titles.emplace_back("verdict");
  titles.emplace_back("change");
  titles.push_back(run_letter(comparison.baseline));
  titles.push_back(runs > 2 ? "run's value" : run_letter(1 - comparison.baseline));
  titles.emplace_back("probe");
  titles.emplace_back("reason");
  std::string html = "<thead><tr>";
  for (const std::string& title : titles) html += fmt::format("<th scope=\"col\">{}</th>", title);
  return html + "</tr></thead>\n";
}

std::string changes_section(const Comparison& comparison, std::span<const RunDigest> runs) {
  std::string rows;
  for (const Place& place : places_of(comparison, runs.size())) {
    rows += row_html(comparison, place, runs.size() > 2);
  }
  const std::string table =
      rows.empty()
          ? std::string("<p>No finding has a verdict.</p>\n")
          : boxed_table("Findings compared with the baseline", "findings changes",
                        head_html(comparison, runs.size()) + "<tbody>\n" + rows + "</tbody>\n");
  return fmt::format(
      "<section id=\"changes\" class=\"probe\" aria-labelledby=\"changes-title\">\n<h2 "
      "id=\"changes-title\">Findings, worse ones first{}</h2>\n<div "
      "id=\"filters\"></div>\n{}</section>\n",
      anchor("changes"), table);
}

std::string unmatched_section(const Comparison& comparison) {
  if (comparison.unmatched.empty()) return {};
  std::string items;
  for (const UnmatchedLine& each : unmatched_lines(comparison)) {
    items +=
        fmt::format("<li data-probe=\"{}\">{}</li>\n", html_text(each.probe), html_text(each.text));
  }
  return fmt::format(
      "<section id=\"unmatched\" class=\"probe\" aria-labelledby=\"unmatched-title\">\n<h2 "
      "id=\"unmatched-title\">Not matched{}</h2>\n<details open><summary>Without a "
      "counterpart: {}</summary>\n<ul class=\"plain\">\n{}</ul></details>\n</section>\n",
      anchor("unmatched"), comparison.unmatched.size(), items);
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
  const std::string id = fmt::format("curves-{}", number);
  return fmt::format(
      "<section id=\"{0}\" class=\"probe\" data-probe=\"{3}\" aria-labelledby=\"{0}-title\">\n<h2 "
      "id=\"{0}-title\">{1}{2}</h2>\n{4}{5}</section>\n",
      id, html_text(words(probe)), anchor(id), html_text(probe), figures_html(figures),
      curves_list(comparison, probe));
}

constexpr std::string_view data_text =
    "<section id=\"data\" aria-labelledby=\"data-title\">\n<h2 id=\"data-title\">Data</h2>\n<p>All "
    "verdicts with their numbers, as <code>clprobe compare --json</code> and <code>-f csv</code> "
    "write them. The page loads nothing from the network.</p>\n<p "
    "id=\"downloads\"></p>\n</section>\n";

/// What tells a run from another one of its device: the driver, the date, else its letter.
std::string own_name(std::span<const RunDigest> runs, std::size_t run) {
  std::vector<std::string> parts = run_names(runs)[run];
  parts.erase(parts.begin());  // the model
  const bool is_told = !parts.empty() && !parts.front().starts_with('#');
  return is_told ? fmt::format("{}", fmt::join(parts, ", ")) : run_letter(run);
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

std::string page_of(const Comparison& comparison, std::span<const RunDigest> runs) {
  const std::vector<std::string> names = names_of(runs);
  std::string sections;
  std::string links = R"(<a href="#summary">summary</a><a href="#changes">findings</a>)";
  std::vector<std::string> probes;
  for (const RunDigest& run : runs) {
    for (const ComparedResult& result : run.results) {
      if (std::find(probes.begin(), probes.end(), result.probe) != probes.end()) continue;
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
                            comparison_to_json(comparison, runs)),
                  data_file("All verdicts (CSV)", "clprobe-comparison.csv", "text/csv",
                            render_comparison_csv(comparison, runs)));
  return html_of({.title = "clprobe: " + heading,
                  .heading = html_text(printable(heading)),
                  .lead = html_text(counts_text(total_counts(comparison))),
                  .navigation = links + R"(<a href="#data">data</a>)",
                  .main = summary_section(comparison, runs, names) +
                          changes_section(comparison, runs) + sections +
                          unmatched_section(comparison) + std::string(data_text),
                  .without_scripts = "Without JavaScript the rows cannot be filtered. All verdicts "
                                     "are in the page.",
                  .files = files});
}

}  // namespace
}  // namespace report

std::string render_comparison_html(const Comparison& comparison, std::span<const RunDigest> runs) {
  return report::page_of(comparison, runs);
}

}  // namespace clprobe
