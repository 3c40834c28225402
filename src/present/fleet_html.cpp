// SPDX-License-Identifier: Apache-2.0
// A fleet as an HTML page: tables, a strip plot of each number, and a map of nodes and slots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "present/findings.hpp"
#include "present/fleet.hpp"
#include "present/html_page.hpp"
#include "present/safe_text.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

using fleet::Device;
using fleet::Distribution;
using fleet::Offender;
using fleet::Report;
using fleet::Standing;

constexpr int strip_width = 640;
constexpr int strip_height = 48;

std::string_view colour_of(Standing standing) {
  switch (standing) {
    case Standing::slow:
      return "#c62828";
    case Standing::suspect:
      return "#ef6c00";
    case Standing::fast:
      return "#1565c0";
    default:
      return "#9e9e9e";
  }
}

std::string device_title(const Device& device) {
  return html_text(fmt::format("{}, {}", place_text(device), device.uuid));
}

/// Returns a strip plot: a bar of devices at each value, and a circle per slow device. Bars instead
/// of a mark per device keep the page of thousands of devices small.
std::string strip_svg(const Report& report, const Distribution& of,
                      const std::map<std::size_t, Standing>& standings) {
  const auto [least, most] = std::ranges::minmax(of.values);
  const double width = most > least ? most - least : 1.0;
  const auto x_of = [&, first = least](double value) {
    constexpr int margin = 8;
    return margin + static_cast<int>((value - first) / width *
                                     static_cast<double>(strip_width - 2 * margin));
  };
  std::map<int, int> counts;
  for (const double value : of.values) ++counts[x_of(value)];
  int highest = 1;
  for (const auto& [x, count] : counts) highest = std::max(highest, count);
  std::string path;
  constexpr int bar_height = 30;
  for (const auto& [x, count] : counts) {
    path += fmt::format("M{} {}v-{}", x, strip_height - 4, 2 + count * bar_height / highest);
  }
  std::string marks;
  for (std::size_t i = 0; i < of.values.size(); ++i) {
    const auto found = standings.find(of.devices[i]);
    if (found == standings.end()) continue;
    marks += fmt::format(R"(<circle cx="{}" cy="8" r="4" fill="{}"><title>{}: {}</title></circle>)",
                         x_of(of.values[i]), colour_of(found->second),
                         device_title(report.devices[of.devices[i]]),
                         html_text(quantity_text(of.values[i], of.unit)));
  }
  return fmt::format(
      R"(<svg viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}"><path d="{3}" stroke="#607d8b" stroke-width="1.5" fill="none"/>{4}</svg>)"
      "\n",
      strip_width, strip_height, html_text(of.name), path, marks);
}

std::string strips_section(const Report& report, const std::map<std::size_t, Standing>& standings) {
  std::string content;
  for (const Distribution& of : report.distributions) {
    content += fmt::format(
        "<h3>{}</h3>\n<p>{} to {}, median {}</p>\n{}",
        html_text(report.kinds.size() > 1 ? fmt::format("{}, {}", of.kind, of.name) : of.name),
        html_text(quantity_text(std::ranges::min(of.values), of.unit)),
        html_text(quantity_text(std::ranges::max(of.values), of.unit)),
        html_text(quantity_text(of.median, of.unit)), strip_svg(report, of, standings));
  }
  return section_html("strips", "Distributions", content);
}

/// Returns a map with a row per slot and a column per node, wrapped after 64 nodes.
std::string map_section(const Report& report, const std::map<std::size_t, Standing>& standings) {
  constexpr std::size_t per_row = 64;
  constexpr std::size_t cell = 10;
  std::set<std::string> slots;
  std::map<std::string, std::size_t> nodes;
  for (const Device& each : report.devices) {
    slots.insert(each.slot);
    nodes.emplace(each.node, 0);
  }
  std::size_t next = 0;
  for (auto& [name, index] : nodes) index = next++;
  std::string cells;
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    const Device& device = report.devices[i];
    const auto slot =
        static_cast<std::size_t>(std::distance(slots.begin(), slots.find(device.slot)));
    const std::size_t node = nodes[device.node];
    const auto found = standings.find(i);
    const std::string_view colour = found == standings.end() ? "#43a047" : colour_of(found->second);
    cells += fmt::format(
        R"(<rect x="{}" y="{}" width="9" height="9" fill="{}"><title>{}</title></rect>)",
        node % per_row * cell, (node / per_row * (slots.size() + 1) + slot) * cell, colour,
        device_title(device));
  }
  const std::size_t rows = (nodes.size() + per_row - 1) / per_row * (slots.size() + 1);
  const std::size_t columns = std::min(per_row, nodes.size());
  return section_html(
      "map", "Nodes and slots",
      fmt::format("<p>A column per node, a row per slot: green usual, orange suspect, red slow, "
                  "blue fast.</p>\n<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                  "role=\"img\" aria-label=\"map of nodes and slots\">{2}</svg>\n",
                  columns * cell, rows * cell, cells));
}

std::string blocks_html(const Report& report) {
  std::string html;
  for (const Block& block : fleet_blocks(report, true)) {
    if (const auto* const table = std::get_if<Table>(&block)) html += to_html(*table);
    const auto* const prose = std::get_if<Prose>(&block);
    if (prose == nullptr) continue;
    const std::string lead = prose->lead.empty() ? "" : html_text(prose->lead) + ": ";
    html += fmt::format("<p>{}{}</p>\n", lead, html_text(prose->text));
  }
  return html;
}

}  // namespace

std::string fleet_html(const Report& report, const TableStyle& /*style*/) {
  std::map<std::size_t, Standing> standings;
  for (const Offender& each : report.offenders) {
    standings.emplace(each.device, each.worst.standing);
  }
  return html_of({.title = "clprobe: fleet",
                  .heading = "Fleet",
                  .lead = html_text(fleet_summary(report)),
                  .navigation = R"(<a href="#summary">summary</a><a href="#map">map</a>)"
                                R"(<a href="#strips">distributions</a>)",
                  .main = section_html("summary", "Summary", blocks_html(report)) +
                          map_section(report, standings) + strips_section(report, standings),
                  .without_scripts = "The page shows everything without JavaScript."});
}

}  // namespace clprobe::report
