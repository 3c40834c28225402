// SPDX-License-Identifier: Apache-2.0
// The card as elements of a page.
#include <fmt/format.h>

#include <string>
#include <string_view>

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

std::string levels_table(const DeviceCard& card) {
  if (card.levels.empty()) return {};
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Levels of {0}\">\n<table "
      "class=\"findings\">\n<caption>Levels of {0}</caption>\n<thead><tr>",
      html_text(card.title));
  for (const std::string_view title : {"level", "latency", "cycles", "capacity", "what it is"}) {
    html += fmt::format("<th scope=\"col\">{}</th>", title);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const CardLevel& level : card.levels) {
    const LevelTexts texts = texts_of(level);
    html += fmt::format("<tr><th scope=\"row\">{}</th>{}<td>{}</td>{}<td>{}</td></tr>\n",
                        html_text(level.name), cell(texts.latency, texts.interval),
                        html_text(texts.cycles), cell(texts.capacity, texts.bracket),
                        html_text(level.what));
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

}  // namespace

std::string card_html(const DeviceCard& card) {
  std::string html = levels_table(card);
  std::string lines;
  for (const CardLine& line : all_lines(card)) {
    lines += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(line.topic), html_text(line.text));
  }
  if (!lines.empty()) html += "<dl class=\"facts\">\n" + lines + "</dl>\n";
  return html;
}

}  // namespace clprobe::report
