// SPDX-License-Identifier: Apache-2.0
#include "present/fleet.hpp"
#include "present/html_page.hpp"

#include <fmt/format.h>
#include <nettle/base64.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "present/api/explain.hpp"
#include "present/api/report.hpp"
#include "present/blocks.hpp"
#include "present/card.hpp"
#include "present/comparison.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "present/safe_text.hpp"
#include "present/side_by_side.hpp"
#include "present/svg.hpp"
#include "text/api/embedded.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

std::string base64(const std::vector<Bytef>& bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  base64_encode_raw(text.data(), bytes.size(), bytes.data());
  return text;
}

std::string anchor(std::string_view id) {
  return fmt::format(R"(<a class="anchor" href="#{}" aria-label="Link to this section">#</a>)", id);
}

}  // namespace

std::string deflated(std::string_view text) {
  // zlib takes text as an array of Bytef.
  const auto* const bytes = reinterpret_cast<const Bytef*>(text.data());
  const auto size = static_cast<uLong>(text.size());
  uLongf used = compressBound(size);
  std::vector<Bytef> stream(used);
  // compress2 can fail only for lack of memory, since the buffer is large enough and the level is
  // valid.
  if (compress2(stream.data(), &used, bytes, size, Z_BEST_COMPRESSION) != Z_OK) {
    throw std::bad_alloc();
  }
  stream.resize(used);
  return base64(stream);
}

std::string fill(std::string_view page, const std::map<std::string_view, std::string>& values) {
  std::string filled;
  while (true) {
    const std::size_t open = page.find("{{");
    filled += page.substr(0, open);
    if (open == std::string_view::npos) return filled;
    const std::size_t close = page.find("}}", open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto value = values.find(name);
    if (close == std::string_view::npos || value == values.end()) {
      throw std::invalid_argument("no value for {{" + std::string(name) + "}}");
    }
    filled += value->second;
    page.remove_prefix(close + 2);
  }
}

std::string html_of(const HtmlPage& page) {
  return fill(embedded_file("page.html"),
              {{"title", html_text(cut_to_width(printable(page.title), 120, "…"))},
               {"heading", page.heading},
               {"lead", page.lead},
               {"navigation", page.navigation},
               {"without scripts", page.without_scripts},
               {"main", page.main},
               {"runs", page.runs},
               {"files", page.files},
               {"script", std::string(embedded_file("report.js"))},
               {"script hash", std::string(content_hash("report.js"))},
               {"style", std::string(embedded_file("report.css"))},
               {"style hash", std::string(content_hash("report.css"))}});
}

std::string data_file(std::string_view label, std::string_view name, std::string_view type,
                      std::string_view content) {
  return nlohmann::ordered_json{
      {"label", label}, {"name", name}, {"type", type}, {"data", deflated(content)}}
      .dump();
}

std::string figures_html(std::span<const Figure> figures) {
  std::string html;
  for (const auto& [title, svg, is_folded] : figures) {
    const std::string figure = fmt::format("<figure class=\"picture\">\n{}</figure>\n", svg);
    const std::string name = html_text(title);
    if (is_folded) {
      html += fmt::format("<details><summary>{}</summary>\n{}</details>\n", name, figure);
    } else {
      html += (name.empty() ? name : fmt::format("<h3>{}</h3>\n", name)) + figure;
    }
  }
  return html;
}

std::string swatch(std::size_t run) {
  constexpr std::size_t colours = 8;
  return fmt::format(R"(<span class="swatch c{}" aria-hidden="true"></span>)", run % colours);
}

std::string section_html(std::string_view id, std::string_view title, std::string_view content,
                         std::string_view attributes) {
  return fmt::format(
      "<section id=\"{0}\"{4} aria-labelledby=\"{0}-title\">\n<h2 "
      "id=\"{0}-title\">{1}{2}</h2>\n{3}</section>\n",
      id, title, anchor(id), content, attributes);
}

std::string card_article(std::size_t run, std::string_view title, std::string_view content) {
  return fmt::format("<article class=\"card\">\n<h3>{}{}</h3>\n{}</article>\n", swatch(run),
                     html_text(title), content);
}

std::string in_cards(std::string_view cards) {
  return fmt::format("<div class=\"cards\">\n{}</div>\n", cards);
}

std::string boxed_table(std::string_view caption, std::string_view kind, std::string_view table) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table "
      "class=\"{1}\">\n<caption>{0}</caption>\n{2}</table>\n</div>\n",
      html_text(caption), kind, table);
}

}  // namespace clprobe::report

namespace clprobe {
namespace report {

std::string card_html(const DeviceCard& card) {
  std::string html = card.levels.empty() ? std::string() : to_html(levels_table(card));
  std::string lines;
  for (const CardLine& line : all_lines(card)) {
    lines += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(line.topic), html_text(line.text));
  }
  if (!lines.empty()) html += "<dl class=\"facts\">\n" + lines + "</dl>\n";
  return html;
}

namespace {

using Json = nlohmann::ordered_json;

// Returns the HTML id of a probe's section. A probe name from a file becomes an id, and thus part
// of a link, only if it has the form of a probe's id.
std::string section_id(std::string_view probe, std::size_t number) {
  const bool is_id = !probe.empty() && probe.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") ==
                                           std::string_view::npos;
  return is_id ? fmt::format("probe-{}", probe) : fmt::format("probe-{}", number);
}

std::string_view explanation_of(const std::string& probe) {
  const std::string page = probe + ".md";
  return has_embedded_file(page) ? embedded_file(page) : std::string_view();
}

struct Named {
  std::span<const Run> runs;
  SideBySide side_by_side{runs};
  std::vector<std::string> titles{};
};

std::string list_item(std::string_view kind, std::string_view text) {
  return fmt::format("<li class=\"{}\">{}</li>\n", kind, html_text(text));
}

std::string items_of(const std::vector<Prose>& notices) {
  std::string items;
  for (const Prose& notice : notices) {
    const std::string_view kind = notice.ink == Ink::failure   ? "failure"
                                  : notice.ink == Ink::caution ? "caution"
                                                               : "note";
    items += list_item(kind, notice.lead + (notice.lead.empty() ? "" : " ") + notice.text);
  }
  return items;
}

std::string kernels_text(const ProbeResult& result) {
  std::string items;
  for (const KernelBuild& kernel : result.kernels) {
    items += fmt::format("<li><code>{}</code> with <code>{}</code></li>\n",
                         html_text(kernel.sha256.substr(0, 12)), html_text(kernel.options));
  }
  return items.empty() ? items : "<ul class=\"plain\">\n" + items + "</ul>\n";
}

/// Returns the tables of a result as HTML: shares of stacked bars, and other findings.
std::string tables_of(const ProbeResult& result, const std::string& title) {
  std::string html;
  for (Block& block : shares_blocks(result.findings)) {
    if (auto* const table = std::get_if<Table>(&block)) {
      table->title = fmt::format("{}: {}", title, table->title);
      html += to_html(*table);
    } else if (const auto* const heading = std::get_if<Heading>(&block)) {
      html += fmt::format("<h4>{}</h4>\n", html_text(heading->text));
    } else {
      html += fmt::format("<p class=\"quiet\">{}</p>\n", html_text(std::get<Prose>(block).text));
    }
  }
  for (const Table& table : findings_tables(result.findings, "Findings of " + title)) {
    html += to_html(table);
  }
  return html;
}

/// Returns the HTML of a probe's result on a device: the amount of data, advice, warnings and
/// kernels, and the findings if there are several runs.
std::string device_part(const Named& named, const ProbeResult& result, std::size_t number) {
  const bool has_table = named.runs.size() > 1;
  std::string html =
      fmt::format("<div class=\"part\">\n<h4>{}</h4>\n<p class=\"quiet\">{}</p>\n",
                  swatch(number) + html_text(named.titles[number]), html_text(result_text(result)));
  std::string items = items_of(notices_of(result));
  if (result.status != Status::ok) items.insert(0, list_item("failure", result_text(result)));
  if (!items.empty()) html += "<ul class=\"notices\">\n" + items + "</ul>\n";
  if (has_table && !result.findings.empty()) {
    html += fmt::format("<details><summary>Findings of {} with intervals and reasons</summary>\n",
                        html_text(named.titles[number]));
    html += tables_of(result, named.titles[number]) + "</details>\n";
  }
  if (!result.kernels.empty()) {
    html += fmt::format("<details><summary>Kernels, by SHA-256 and build options ({})</summary>\n",
                        result.kernels.size());
    html += kernels_text(result) + "</details>\n";
  }
  return html + "</div>\n";
}

std::string findings_part(const Named& named, const std::string& probe) {
  if (named.runs.size() > 1) {
    const Table table = named.side_by_side.table(probe, Form::whole);
    if (!table.rows.empty()) return to_html(table);
  }
  for (const auto& [run, result] : results_of(named.runs, probe)) {
    if (!result->findings.empty()) return tables_of(*result, named.titles[run]);
  }
  return "<p>No findings.</p>\n";
}

std::string probe_section(const Named& named, const std::string& probe, std::size_t number) {
  const std::string id = section_id(probe, number);
  const std::string_view page = explanation_of(probe);
  std::string html;
  if (!page.empty()) {
    html += fmt::format("<p class=\"lead\">{}</p>\n", html_text(question_of(page)));
  }
  html += figures_html(figures_of(named.runs, probe)) + "<h3>Findings</h3>\n" +
          findings_part(named, probe);
  html += "<h3>Measured on</h3>\n<div class=\"parts\">\n";
  for (const auto& [run, result] : results_of(named.runs, probe)) {
    html += device_part(named, *result, run);
  }
  html += "</div>\n";
  if (!page.empty()) {
    html += fmt::format(
        "<details class=\"method\"><summary>What can fool it</summary>\n<div "
        "class=\"prose\">\n{}<p>Method: <code>clprobe explain {} --full</code></p>\n</div>\n"
        "</details>\n",
        html_of_explanation(section_of(page, "What can fool it")), html_text(probe));
  }
  return section_html(id, html_text(words(probe)), html, " class=\"probe\"");
}

std::string term(std::string_view name, std::string_view text) {
  if (text.empty()) return {};
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(text));
}

std::string provenance(const Run& run) {
  std::string command = "clprobe";
  for (const std::string& argument : run.arguments) command += ' ' + argument;
  std::string html = "<dl class=\"facts\">\n";
  html += term("measured", run.started);
  html += term("tool", fmt::format("clprobe {} ({}, {})", run.tool.version, run.tool.commit,
                                   run.tool.compiler));
  html += term("command", command);
  html += term("seed", fmt::format("{}", run.seed));
  html += term("timed by", timer_text(run.device));
  html += term("host", fmt::format("{}, {}, {}", run.host.cpu, run.host.os, run.host.kernel));
  html += term("UUID", run.device.uuid);
  html += term("PCI", run.device.pci);
  return html + "</dl>\n";
}

std::string reported(const DeviceInfo& device) {
  if (device.reported.empty()) return {};
  std::string html = "<details><summary>What the driver reported</summary>\n<dl class=\"facts\">\n";
  for (const auto& [name, value] : device.reported) {
    html += term(parameter_title(name), parameter_text(name, value));
  }
  return html + "</dl>\n</details>\n";
}

std::string device_card(const Named& named, std::size_t number) {
  const Run& run = named.runs[number];
  std::string html;
  for (const std::string& fact : device_facts(run.device)) {
    html += fmt::format("<p class=\"quiet\">{}</p>\n", html_text(fact));
  }
  std::string items;
  if (run.interrupted) {
    items += list_item("failure", "interrupted: only earlier measurements are shown");
  }
  items += items_of(notices_of(run.warnings));
  if (run.results.empty()) items += list_item("caution", "nothing was measured");
  if (!items.empty()) html += "<ul class=\"notices\">\n" + items + "</ul>\n";
  return card_article(number, named.titles[number], html + provenance(run) + reported(run.device));
}

std::string summary(const Named& named, std::size_t number) {
  const DeviceCard card = card_of(named.runs[number]);
  const std::string facts =
      fmt::format("<p class=\"quiet\">{}; timed by {}</p>\n", html_text(card.facts),
                  html_text(timer_text(named.runs[number].device)));
  return card_article(number, named.titles[number], facts + card_html(card));
}

std::string navigation(const std::vector<std::string>& probes) {
  std::string links;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    links += fmt::format("<a href=\"#{}\">{}</a>", section_id(probes[i], i),
                         html_text(words(probes[i])));
  }
  return links + R"(<a href="#devices">devices</a><a href="#data">data</a>)";
}

/// Returns the kernels, the program and the device of a run of `profile`: "add, copy of app on
/// Example GPU"; empty for other runs.
std::string profile_title(const Run& run) {
  if (run.arguments.empty() || run.arguments.front() != "profile") return {};
  std::vector<std::string> kernels;
  for (const ProbeResult& result : run.results) {
    for (const CardLine& line : result.card.lines) add_once(kernels, line.topic);
  }
  if (kernels.empty()) return {};
  const auto separator = std::ranges::find(run.arguments, "--");
  const bool has_program = run.arguments.end() - separator > 1;
  return fmt::format("{}{}{} on {}", fmt::join(kernels, ", "), has_program ? " of " : "",
                     has_program ? *std::next(separator) : "", name_of(run));
}

std::string heading_of(std::span<const Run> runs) {
  if (runs.empty()) return "No runs";
  if (runs.size() == 1) {
    const std::string profiled = profile_title(runs.front());
    return profiled.empty() ? name_of(runs.front()) : profiled;
  }
  return fmt::format("{} devices side by side", runs.size());
}

// Returns the names of the runs' devices, without repetitions: "NVIDIA H200, Example GPU".
std::string names_of(std::span<const Run> runs) {
  std::vector<std::string> names;
  for (const Run& run : runs) {
    add_once(names, name_of(run));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string lead_of(std::span<const Run> runs) {
  if (runs.empty()) return "The files contain no runs.";
  const auto earlier = [](const Run& a, const Run& b) { return a.started < b.started; };
  const auto [first, last] = std::ranges::minmax_element(runs, earlier);
  const std::string from = first->started.substr(0, 10);
  const std::string to = last->started.substr(0, 10);
  std::string text = runs.size() > 1 ? names_of(runs)
                     : profile_title(runs.front()).empty()
                         ? "Characteristics of the memory system, as visible through OpenCL"
                         : "Where the kernels' time goes";
  return text + fmt::format(". Measured {}{}.", from, from == to ? "" : " to " + to);
}

/// Returns a JSON array with the deflated document of each run. The documents are those that
/// `clprobe report FILE -o RUN.json` writes for a single run.
std::string runs_data(std::span<const Run> runs) {
  Json documents = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    documents.push_back(deflated(to_json(runs.subspan(i, 1))));
  }
  return documents.dump();
}

constexpr std::string_view data_text =
    "<p>This page contains every sample, in one run document per device. <code>clprobe "
    "report</code> reads these documents. The page loads nothing from the network.</p>\n<p "
    "id=\"downloads\"></p>\n";

std::string html_of_runs(std::span<const Run> runs, const TableStyle& style) {
  const Named named{.runs = runs, .titles = run_titles(runs)};
  const std::vector<std::string> probes = probes_of(runs);
  std::string sections;
  for (std::size_t i = 0; i < probes.size(); ++i) sections += probe_section(named, probes[i], i);
  std::string cards;
  std::string summaries;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    cards += device_card(named, i);
    summaries += summary(named, i);
  }
  const std::string subject = runs.size() == 1 ? heading_of(runs) : names_of(runs);
  return html_of({.title = runs.empty() ? "clprobe" : "clprobe: " + subject,
                  .heading = html_text(heading_of(runs)),
                  .lead = html_text(lead_of(runs)),
                  .navigation = navigation(probes),
                  .main = section_html("summary", "Summary", in_cards(summaries)) + sections +
                          section_html("devices", "Devices and provenance", in_cards(cards)) +
                          section_html("data", "Raw data", data_text),
                  .without_scripts = "Without JavaScript the raw data cannot be downloaded. The "
                                     "page shows all other content.",
                  .runs = runs_data(runs),
                  .files = fmt::format("[{},{}]",
                                       data_file("Findings (CSV)", "clprobe-findings.csv",
                                                 "text/csv", formats::findings.runs(runs, style)),
                                       data_file("Curves (CSV)", "clprobe-curves.csv", "text/csv",
                                                 formats::curves.runs(runs, style)))});
}

}  // namespace
}  // namespace report

constexpr Writer formats::html{
    .name = "html",
    .ending = ".html",
    .details = "An `.html` file is one page with charts, tables and the raw data. ",
    .runs = report::html_of_runs,
    .comparison = report::html_of_comparison,
    .fleet = report::fleet_html};

}  // namespace clprobe
