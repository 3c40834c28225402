// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "report/html_text.hpp"
#include "report/stacks.hpp"
#include "report/svg.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

// By category, in the order in which they are stacked; of light and dark by turns, so that
// neighbours also differ without colour.
constexpr std::array<std::string_view, 9> fills{"#b8c4d0", "#57534e", "#e8a06a",
                                                "#0a5fae", "#7cc4bb", "#9a2f8f",
                                                "#d9c24a", "#4a5d23", "#efb4b8"};
constexpr double row_height = 26;
constexpr double bar_height = 18;
constexpr double names = 300;  // the room before the bars
constexpr double bars_width = picture::width - names - picture::right;
constexpr int max_name = 40;

std::vector<std::string> shown_categories(std::span<const std::string> labels) {
  std::vector<std::string> categories;
  for (const std::string& label : labels) {
    const std::string_view category = stack_category(label);
    if (categories.empty() || categories.back() != category) categories.emplace_back(category);
  }
  return categories;
}

std::string bar_of(const Stack& stack, std::span<const std::string> labels, double y) {
  if (!stack.is_whole) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#50565e\">{}</text>\n", names,
                       y + 13.5, no_bar);
  }
  double all = 0.0;
  for (const StackPart& part : stack.parts) all += std::max(0.0, part.share);
  if (!(all > 0.0)) return {};
  std::string svg;
  double x = names;
  std::size_t category = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0 && stack_category(labels[i]) != stack_category(labels[i - 1])) ++category;
    const StackPart* const part = part_of(stack, labels[i]);
    if (part == nullptr || !(part->share > 0.0)) continue;
    const double width = part->share / all * bars_width;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
        "stroke=\"#ffffff\" stroke-width=\"0.5\"><title>{}: {} %</title></rect>\n",
        x, y, width, bar_height, fills.at(category % fills.size()), html_text(labels[i]),
        html_text(share_text(*part)));
    x += width;
  }
  return svg;
}

std::string axis_at(double y) {
  std::string svg;
  for (int percent = 0; percent <= 100; percent += 25) {
    const double x = names + bars_width * percent / 100.0;
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#50565e\">{} %</text>\n", x,
        y, percent);
  }
  return svg;
}

}  // namespace

std::string draw_stacks(std::span<const Stack> stacks, const PictureText& text) {
  const std::vector<std::string> labels = stack_labels(stacks);
  const std::vector<std::string> categories = shown_categories(labels);
  constexpr std::size_t legend_columns = 4;
  constexpr double legend_row = 22;
  const double bottom = picture::top + row_height * static_cast<double>(stacks.size());
  const std::size_t legend_rows = (categories.size() + legend_columns - 1) / legend_columns;
  std::string svg =
      picture_head(text, bottom + 40 + legend_row * static_cast<double>(legend_rows) + 8);
  double y = picture::top;
  for (const Stack& stack : stacks) {
    const std::string time = time_text(stack);
    const std::string name = cut_to_width(printable(stack.bar), max_name, "…");
    svg += fmt::format(
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#1a1d21\"><title>{}</title>{}"
        "</text>\n",
        names - 10, y + 13.5, html_text(stack.bar + (time.empty() ? "" : ", " + time)),
        html_text(name));
    svg += bar_of(stack, labels, y);
    y += row_height;
  }
  svg += axis_at(bottom + 16);
  const double column = (picture::width - picture::left) / static_cast<double>(legend_columns);
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const double x = 24 + column * static_cast<double>(i % legend_columns);
    const std::size_t line = i / legend_columns;
    const double row = bottom + 40 + legend_row * static_cast<double>(line);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" fill=\"{}\"/>\n<text "
        "x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#1a1d21\">{}</text>\n",
        x, row, fills.at(i % fills.size()), x + 20, row + 11.5, html_text(categories[i]));
  }
  return svg + "</svg>\n";
}

}  // namespace clprobe::report
