// SPDX-License-Identifier: Apache-2.0
// The card as elements of a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/blocks.hpp"
#include "report/card.hpp"
#include "report/html_text.hpp"

namespace clprobe::report {
namespace {

/// The widths of the boxes of levels, in per cent: the smallest capacity, then by the logarithm. A
/// level whose end is not known is as wide as the next one, the last one as the picture.
std::vector<double> box_widths(const std::vector<CardLevel>& levels) {
  constexpr double narrowest = 76.0;  // room for its words
  constexpr double beyond = 4.0;      // the last level, beside the largest capacity that is known
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
  const std::string series = card.levels.empty() ? "" : card.levels.front().own.latency.series;
  for (const DeviceLevel& level : card.levels) {
    if (level.own.latency.series == series) levels.push_back(level.own);
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
        (100.0 - widths[i]) / 2.0, widths[i], html_text(texts.latency), html_text(levels[i].name),
        html_text(texts.capacity));
  }
  return html + fmt::format(
                    "</ol>\n<figcaption>Levels of {}; widths by the logarithm of the capacity."
                    "</figcaption>\n</figure>\n",
                    html_text(levels.front().latency.series));
}

}  // namespace

std::string card_html(const DeviceCard& card) {
  const std::string picture = hierarchy_picture(card);
  std::string html = card.levels.empty() ? std::string() : to_html(levels_table(card));
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
