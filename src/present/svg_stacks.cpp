// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "present/findings.hpp"
#include "present/safe_text.hpp"
#include "present/stacks.hpp"
#include "present/svg.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

// Fills by the numbers of the categories. Neighbours also differ without colour, and the
// unattributed share is the lightest.
constexpr std::array<std::string_view, 11> fills{"#d3dce5", "#2b2926", "#c98a55", "#0a5fae",
                                                 "#7cc4bb", "#b84fae", "#e3cf5a", "#3a4a1a",
                                                 "#efb4b8", "#f4efe6", "#9aa1a9"};
static_assert(fills.size() == known_categories.size());
constexpr double names = 300;  // the room before the bars
constexpr double bars_width = picture::width - names - picture::right;
constexpr int max_name = 40;

std::string_view fill_of(std::size_t number) { return fills.at(number % fills.size()); }

/// The range of the axis: from the longest bar below 0 to the longest above it, at least 0 to 1.
struct Reach {
  double low{0.0};
  double high{1.0};

  [[nodiscard]] double across(double share) const {
    return names + bars_width * (share - low) / (high - low);
  }
};

Reach reach_of(std::span<const Stack> stacks) {
  Reach reach;
  for (const Stack& stack : stacks) {
    if (!stack.is_whole) continue;
    double below = 0.0;
    double above = 0.0;
    const double length = stack.relative.value_or(1.0);
    for (const StackPart& part : stack.parts) {
      (part.share < 0.0 ? below : above) += length * part.share;
    }
    reach.low = std::min(reach.low, below);
    reach.high = std::max(reach.high, above);
  }
  return reach;
}

/// "saves at most 31 % of the app's device time". Accounts of cycles say where time goes, and not
/// what is saved.
std::string app_text(const Stack& stack, const StackPart& part) {
  const bool is_cause = stack.view == stack_view_shapley && part.label != stack_remainder &&
                        part.label != stack_not_resolved && part.share > 0.0;
  if (!stack.app_share || !is_cause) return {};
  const std::string_view bound = part.reason.starts_with("at least") ? "at least" : "at most";
  return fmt::format(", saves {} {} of the program's device time", bound,
                     quantity_text(part.share * *stack.app_share, "share"));
}

/// ", 1.23 ms, saves at most ...": what a part of a bar means besides its share.
std::string effect_text(const Stack& stack, const StackPart& part) {
  const bool is_timed = stack.time && *stack.time > 0.0;
  const Stack alone{.time = part.share * stack.time.value_or(0.0), .time_unit = stack.time_unit};
  return (is_timed ? ", " + time_text(alone) : "") + app_text(stack, part);
}

constexpr double row_height = 26;
constexpr double bar_height = 18;

/// Draws a bar: causes whose removal saves time lie right of 0, those that cost time left of it.
std::string bar_of(const Stack& stack, std::span<const std::string> labels, const Reach& reach,
                   double y, bool has_values) {
  if (!stack.is_whole) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#50565e\">{}</text>\n",
                       reach.across(0.0), y + 13.5, no_bar);
  }
  std::string svg;
  double above = 0.0;
  double below = 0.0;
  std::size_t category = 0;
  const std::vector<std::size_t> numbers = category_numbers(category_names(labels));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0 && stack_category(labels[i]) != stack_category(labels[i - 1])) ++category;
    const StackPart* const part = part_of(stack, labels[i]);
    if (part == nullptr || part->share == 0.0) continue;
    double& end = part->share > 0.0 ? above : below;
    const double from = reach.across(end);
    end += stack.relative.value_or(1.0) * part->share;
    const double to = reach.across(end);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
        "stroke=\"#50565e\" stroke-width=\"0.5\"><title>{}: {} %{}</title></rect>\n",
        std::min(from, to), y, std::fabs(to - from), bar_height, fill_of(numbers[category]),
        html_text(labels[i]), html_text(share_text(*part)),
        has_values ? html_text(effect_text(stack, *part)) : std::string());
  }
  return svg;
}

/// Every 25 % that is on the axis, fewer of a long one, and a line at 0.
std::string axis_at(double y, const Reach& reach) {
  int step = 25;
  for (const int wider : {50, 100, 200, 500, 1000, 10000}) {
    if (100.0 * (reach.high - reach.low) / step > 8.0) step = wider;
  }
  std::string svg = fmt::format("<path d=\"M{0:.1f} {1}V{2:.1f}\" stroke=\"#1a1d21\"/>\n",
                                reach.across(0.0), picture::top - 4, y - 12);
  const auto first = static_cast<int>(std::ceil(std::max(-1e6, 100.0 * reach.low) / step));
  const auto last = static_cast<int>(std::floor(std::min(1e6, 100.0 * reach.high) / step));
  for (int tick = first; tick <= last; ++tick) {
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#50565e\">{} %</text>\n",
        reach.across(tick * step / 100.0), y, tick * step);
  }
  return svg;
}

}  // namespace

std::string draw_stacks(std::span<const Stack> all, const PictureText& text) {
  const std::vector<Stack> stacks = drawn_stacks(all);
  const std::vector<std::string> labels = stack_labels(stacks);
  const std::vector<std::string> categories = category_names(labels);
  const std::vector<std::size_t> numbers = category_numbers(categories);
  constexpr std::size_t legend_columns = 4;
  constexpr double legend_row = 22;
  const double below_top = (bar_height - 9) / 2 + 9;  // of a bar, where its name stands
  const double bottom = picture::top + row_height * static_cast<double>(stacks.size());
  const std::size_t legend_rows = (categories.size() + legend_columns - 1) / legend_columns;
  std::string svg =
      picture_head(text, bottom + 40 + legend_row * static_cast<double>(legend_rows) + 8);
  const Reach reach = reach_of(stacks);
  double y = picture::top;
  for (const Stack& stack : stacks) {
    const std::string time = time_text(stack);
    const std::string name = cut_to_width(printable(stack.bar), max_name, "…");
    svg += fmt::format(
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#1a1d21\"><title>{}</title>{}"
        "</text>\n",
        names - 10, y + below_top, html_text(stack.bar + (time.empty() ? "" : ", " + time)),
        html_text(name));
    svg += bar_of(stack, labels, reach, y, text.has_values);
    y += row_height;
  }
  svg += axis_at(bottom + 16, reach);
  const double column = (picture::width - picture::left) / static_cast<double>(legend_columns);
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const double x = 24 + column * static_cast<double>(i % legend_columns);
    const std::size_t line = i / legend_columns;
    const double row = bottom + 40 + legend_row * static_cast<double>(line);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" fill=\"{}\" "
        "stroke=\"#50565e\" stroke-width=\"0.5\"/>\n<text "
        "x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#1a1d21\">{}</text>\n",
        x, row, fill_of(numbers[i]), x + 20, row + 11.5, html_text(categories[i]));
  }
  return svg + "</svg>\n";
}

}  // namespace clprobe::report
