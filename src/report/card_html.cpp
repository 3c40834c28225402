// SPDX-License-Identifier: Apache-2.0
// The card as elements of a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "report/card.hpp"
#include "report/html_text.hpp"

namespace clprobe::report {
namespace {

std::string cell(std::string_view value, std::string_view interval) {
  std::string html = fmt::format("<td><em>{}</em>", html_text(value));
  if (!interval.empty()) {
    html += fmt::format(" <span class=\"spread\">{}</span>", html_text(interval));
  }
  return html + "</td>";
}

/// The widths of the boxes of levels, in per cent: the smallest capacity, then by the logarithm. A
/// level whose end is not known is as wide as the next one, the last one as the picture.
std::vector<double> box_widths(const std::vector<CardLevel>& levels) {
  constexpr double narrowest = 48.0;
  constexpr double beyond = 4.0;  // the last level, beside the largest capacity that is known
  double least = HUGE_VAL;
  double most = 0.0;
  for (const CardLevel& level : levels) {
    const double bytes = level.capacity.value.value_or(0.0);
    if (!(bytes > 0.0)) continue;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  const double span = std::log(most) - std::log(least) + std::log(beyond);
  std::vector<double> widths(levels.size(), 100.0);
  for (std::size_t i = levels.size(); i-- > 0;) {
    const double bytes = levels[i].capacity.value.value_or(0.0);
    if (bytes > 0.0) {
      widths[i] = narrowest + (100.0 - narrowest) * (std::log(bytes) - std::log(least)) / span;
    } else if (i + 1 < levels.size()) {
      widths[i] = widths[i + 1];
    }
  }
  return widths;
}

/// The levels of the first series as boxes, the nearest on top; nothing for fewer than two.
std::string hierarchy_picture(const DeviceCard& card) {
  std::vector<CardLevel> levels;
  for (const CardLevel& level : card.levels) {
    if (level.latency.series == card.levels.front().latency.series) levels.push_back(level);
  }
  const bool has_capacity = std::any_of(levels.begin(), levels.end(), [](const CardLevel& level) {
    return level.capacity.value.value_or(0.0) > 0.0;
  });
  if (levels.size() < 2 || !has_capacity) return {};
  std::string html = "<figure class=\"hierarchy\">\n<ol>\n";
  const std::vector<double> widths = box_widths(levels);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelTexts texts = texts_of(levels[i]);
    html += fmt::format(
        "<li><svg viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect "
        "x=\"{:.1f}\" width=\"{:.1f}\" height=\"1\"/></svg><span><em>{}</em> {} <em>{}</em></span>"
        "</li>\n",
        (100.0 - widths[i]) / 2.0, widths[i], html_text(texts.latency), html_text(levels[i].what),
        html_text(texts.capacity));
  }
  return html +
         fmt::format(
             "</ol>\n<figcaption>Levels of {}: the larger, the wider (by the logarithm of the "
             "capacity).</figcaption>\n</figure>\n",
             html_text(levels.front().latency.series));
}

std::string levels_table(const DeviceCard& card) {
  if (card.levels.empty()) return {};
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Levels of {0}\">\n<table "
      "class=\"findings\">\n<caption>Levels of {0}</caption>\n<thead><tr>",
      html_text(card.title));
  const auto has = [&](const auto& text) {
    return std::any_of(card.levels.begin(), card.levels.end(),
                       [&](const CardLevel& each) { return !text(each).empty(); });
  };
  const bool has_cycles = has([](const CardLevel& each) { return texts_of(each).cycles; });
  const bool has_what = has([](const CardLevel& each) { return each.what; });
  for (const std::string_view title : {"level", "latency", "cycles", "capacity", "what it is"}) {
    const bool is_empty =
        (title == "cycles" && !has_cycles) || (title == "what it is" && !has_what);
    if (!is_empty) html += fmt::format("<th scope=\"col\">{}</th>", title);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const CardLevel& level : card.levels) {
    const LevelTexts texts = texts_of(level);
    html += fmt::format("<tr><th scope=\"row\">{}</th>{}", html_text(level.name),
                        cell(texts.latency, texts.interval));
    if (has_cycles) html += fmt::format("<td>{}</td>", html_text(texts.cycles));
    html += cell(texts.capacity, texts.bracket);
    if (has_what) html += fmt::format("<td>{}</td>", html_text(level.what));
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

}  // namespace

std::string card_html(const DeviceCard& card) {
  const std::string picture = hierarchy_picture(card);
  std::string html = levels_table(card);
  if (!picture.empty()) {
    html = fmt::format("<div class=\"levels\">\n{}<div>\n{}</div>\n</div>\n", picture, html);
  }
  std::string lines;
  for (const CardLine& line : all_lines(card)) {
    lines += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(line.topic), html_text(line.text));
  }
  if (!lines.empty()) html += "<dl class=\"facts\">\n" + lines + "</dl>\n";
  return html;
}

}  // namespace clprobe::report
