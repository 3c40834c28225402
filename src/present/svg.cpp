// SPDX-License-Identifier: Apache-2.0
#include "present/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "present/curves.hpp"
#include "present/findings.hpp"
#include "present/safe_text.hpp"
#include "present/stacks.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

using picture::bottom;
using picture::left;
using picture::plot_height;
using picture::top;
using picture::width;

constexpr double legend_row = 22;
constexpr double beside_room = 56;    // width on the right for a second axis
constexpr double label_room = 26;     // width of an axis title and the gap to the labels
constexpr double min_label_gap = 26;  // distance between adjacent labels of the y axis
constexpr double letter_width = 7;    // width of a character of 13 px type, rounded up

// Colours, each with a contrast of at least 4.5:1 to white, and dashes, which distinguish curves in
// print without colour.
constexpr std::array colours{"#0b5fc0", "#b8400a", "#0a7068", "#9a1fb0",
                             "#4a7310", "#b81c2c", "#5b3fd0", "#57534e"};
constexpr std::array dashes{"", "7 4", "2 3", "10 3 2 3", "4 2", "1 4", "12 4", "6 2 2 2"};

/// Mark of a curve: an SVG path around the origin, filled unless `is_open`. The combinations of
/// marks and dashes distinguish 56 curves without colour.
struct Mark {
  std::string_view path;
  bool is_open;
};
constexpr std::array marks{
    Mark{"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", false},
    Mark{"m-3.5 -3.5h7v7h-7z", false},
    Mark{"m0 -4.2l3.9 7.3h-7.8z", false},
    Mark{"m0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6z", false},
    Mark{"m-3.5 0h7m-3.5 -3.5v7", true},
    Mark{"m-3.5 -3.5l7 7m-7 0l7 -7", true},
    Mark{"m-3.5 0h7m-3.5 -3.5v7m-3.5 -7l7 7m-7 0l7 -7", true},
};
constexpr std::size_t marks_of_curve = 7;

std::string_view colour_of(std::size_t series) { return colours.at(series % colours.size()); }

double text_width(std::string_view text) { return letter_width * display_width(text); }

struct Place {
  double x{0.0};
  double y{0.0};
};

/// One-line text, positioned by the middle of its base line.
struct Label {
  Place place{};
  double half_width{0.0};

  [[nodiscard]] bool overlaps(const Label& other) const {
    constexpr double line_height = 15;
    constexpr double gap = 8;
    return std::fabs(place.x - other.place.x) < half_width + other.half_width + gap &&
           std::fabs(place.y - other.place.y) < line_height;
  }
  [[nodiscard]] bool covers(const Place& dot) const {
    constexpr double above = 13;
    constexpr double below = 4;
    return std::fabs(place.x - dot.x) < half_width + 2 && dot.y > place.y - above &&
           dot.y < place.y + below;
  }
};

/// Returns the first candidate inside the plot that covers neither a taken label nor a curve, or
/// else the first that covers no label; null if there is none.
const Label* choose(const std::vector<Label>& candidates, const std::vector<Label>& taken,
                    const std::vector<Place>& dots) {
  const Label* second_best = nullptr;
  for (const Label& label : candidates) {
    const bool is_free =
        label.place.y > top + 12 && label.place.y < bottom - 3 &&
        std::ranges::none_of(taken, [&](const Label& each) { return label.overlaps(each); });
    if (!is_free) continue;
    const bool covers_curve =
        std::ranges::any_of(dots, [&](const Place& dot) { return label.covers(dot); });
    if (!covers_curve) return &label;
    if (second_best == nullptr) second_best = &label;
  }
  return second_best;
}

Axis beside_axis_of(const Chart& chart) { return y_axis_of(Chart{.series = chart.beside}); }

class Picture {
 public:
  explicit Picture(const Chart& chart)
      : chart_(chart),
        x_(x_axis_of(chart)),
        y_(y_axis_of(chart)),
        beside_(beside_axis_of(chart)),
        left_(std::max(picture::left, label_width() + label_room)),
        plot_width_(picture::left + picture::plot_width - left_ -
                    (chart.beside.empty() ? 0.0 : beside_room)) {}

  std::string draw(const PictureText& text) {
    const std::string legend = draw_legend();
    svg_ = picture_head(text, height_);
    if (x_.high > x_.low) {
      draw_axes();
      for (std::size_t i = chart_.series.size(); i-- > 0;) draw_spread(i);
      draw_beside();
      for (std::size_t i = chart_.series.size(); i-- > 0;) draw_curve(i);
      draw_notes();
      if (text.has_values) draw_values();
      svg_ += legend;
    } else {
      svg_ += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#1a1d21\">no curve was measured</text>\n",
                          left_, top + 20);
    }
    return svg_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double label_width() const {
    double widest = 0.0;
    for (const double value : y_ticks_of(y_, min_label_gap / plot_height)) {
      widest = std::max(widest, std::ceil(1.15 * text_width(tick_text(value, chart_.y_unit))));
    }
    return widest;
  }
  /// Returns the number that selects a series' colour, dashes and mark.
  [[nodiscard]] std::size_t look_of(std::size_t i) const {
    return chart_.series[i].look.value_or(i);
  }
  [[nodiscard]] double across(double value) const { return left_ + plot_width_ * x_.share(value); }
  [[nodiscard]] double down(double value) const {
    return bottom - plot_height * std::clamp(y_.share(value), 0.0, 1.0);
  }

  [[nodiscard]] std::vector<double> x_values() const {
    constexpr double min_gap = 64;
    std::vector<double> kept;
    for (const double value : x_values_of(chart_, x_, min_gap / plot_width_)) {
      const auto half = [&](double x) { return text_width(x_text_of(chart_, x)) / 2 + 2; };
      if (kept.empty() ||
          across(value) >=
              across(kept.back()) + std::max(min_gap / 2, half(kept.back()) + half(value))) {
        kept.push_back(value);
      }
    }
    return kept;
  }

  void draw_axes() {
    for (const double value : y_ticks_of(y_, min_label_gap / plot_height)) {
      svg_ += fmt::format(
          R"(<path d="M{0} {1:.1f}H{2}" stroke="#e3e6ea"/><text x="{3}" y="{4:.1f}" text-anchor="end" fill="#50565e">{5}</text>
)",
          left_, down(value), left_ + plot_width_, left_ - 8, down(value) + 4.5,
          html_text(tick_text(value, chart_.y_unit)));
    }
    for (const double value : x_values()) {
      const std::string text = x_text_of(chart_, value);
      // The last label must not end beyond the picture.
      const double x = std::min(across(value), picture::width - text_width(text) / 2 - 1);
      svg_ += fmt::format(
          R"(<path d="M{0:.1f} {1}V{2}" stroke="#eef0f2"/><text x="{3:.1f}" y="{4}" text-anchor="middle" fill="#50565e">{5}</text>
)",
          across(value), top, bottom, x, bottom + 19, html_text(text));
    }
    svg_ += fmt::format(
        R"(<path d="M{0} {1}V{2}H{3}" fill="none" stroke="#50565e"/><text x="{4}" y="{5}" text-anchor="middle" fill="#1a1d21">{6}</text>
)",
        left_, top, bottom, left_ + plot_width_, left_ + plot_width_ / 2, bottom + 42,
        html_text(printable(x_title_of(chart_))));
    if (chart_.y_title.empty()) return;
    constexpr double baseline = 12;  // left of the longest tick label
    svg_ += fmt::format(
        R"svg(<text transform="translate({} {}) rotate(-90)" text-anchor="middle" fill="#1a1d21">{}</text>
)svg",
        baseline, top + plot_height / 2, html_text(chart_.y_title));
  }

  // Draws the second y axis and its series. A series of the second axis is a thin line in the
  // colour of the series that it belongs to.
  void draw_beside() {
    if (chart_.beside.empty()) return;
    const auto down_beside = [&](double value) {
      return bottom - plot_height * std::clamp(beside_.share(value), 0.0, 1.0);
    };
    constexpr double min_gap = 26;
    const double end = left_ + plot_width_;
    for (const double value : y_ticks_of(beside_, min_gap / plot_height)) {
      svg_ += fmt::format(
          R"(<path d="M{0:.1f} {1:.1f}h4" stroke="#50565e"/><text x="{2:.1f}" y="{3:.1f}" fill="#50565e">{4}</text>
)",
          end, down_beside(value), end + 8, down_beside(value) + 4.5,
          html_text(tick_text(value, "")));
    }
    svg_ += fmt::format(
        R"svg(<path d="M{0:.1f} {1}V{2}" stroke="#50565e"/><text transform="translate({3} {4}) rotate(-90)" text-anchor="middle" fill="#1a1d21">{5} (dotted)</text>
)svg",
        end, top, bottom, width - 8, top + plot_height / 2,
        html_text(printable(chart_.beside_title)));
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const auto beside = std::ranges::find_if(chart_.beside, [&](const ChartSeries& each) {
        return each.name == chart_.series[i].name;
      });
      if (beside == chart_.beside.end()) continue;
      std::string path;
      for (const ChartPoint& point : sorted(*beside)) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", across(point.x),
                            down_beside(point.y));
      }
      svg_ += fmt::format(
          R"(<path d="{}" fill="none" stroke="{}" stroke-width="1" stroke-dasharray="1 2" stroke-linecap="round"/>
)",
          path, colour_of(look_of(i)));
    }
  }

  // Draws the intervals of a curve as an area whose outline follows the upper ends, and then the
  // lower ends in reverse order.
  void draw_spread(std::size_t i) {
    std::string path;
    std::string back;
    bool is_wide = false;
    for (const ChartPoint& point : sorted(chart_.series[i])) {
      if (!(point.low > 0.0) || !(point.high > 0.0)) continue;
      is_wide |= down(point.low) - down(point.high) >= 0.1;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", across(point.x),
                          down(point.high));
      back.insert(0, fmt::format("L{:.1f} {:.1f}", across(point.x), down(point.low)));
    }
    if (!is_wide) return;
    svg_ += fmt::format("<path d=\"{}{}Z\" fill=\"{}\" fill-opacity=\"0.22\"/>\n", path, back,
                        colour_of(look_of(i)));
  }

  void draw_curve(std::size_t i) {
    std::string path;
    const std::vector<ChartPoint> points = sorted(chart_.series[i]);
    for (const ChartPoint& point : points) {
      path +=
          fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", across(point.x), down(point.y));
    }
    // A single point becomes a line of length 0, which round caps show as a dot.
    if (points.size() == 1) path += "h0";
    const std::size_t look = look_of(i);
    const std::string_view dash = dashes.at(look % dashes.size());
    svg_ += fmt::format(
        R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round" stroke-linecap="round"{}/>
)",
        path, colour_of(look), i == 0 ? 2.4 : 1.8,
        dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
    // Marks at most a few points of a curve; the marked positions differ between curves.
    const std::size_t every = std::max<std::size_t>(1, points.size() / marks_of_curve);
    for (std::size_t at = every * (i % 5) / 5; at < points.size(); at += every) {
      svg_ += draw_mark(look, {across(points[at].x), down(points[at].y)});
    }
  }

  /// Draws an invisible disc over each point; viewers show the disc's title as a tooltip.
  void draw_values() {
    svg_ += "<g fill=\"none\" pointer-events=\"all\">\n";
    for (const ChartSeries& series : chart_.series) {
      for (const ChartPoint& point : sorted(series)) {
        svg_ += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}, {}: {}</title></circle>\n",
            across(point.x), down(point.y), html_text(printable(series.name)),
            html_text(x_text_of(chart_, point.x)), html_text(value_text(point, chart_.y_unit)));
      }
    }
    svg_ += "</g>\n";
  }

  static std::string draw_mark(std::size_t series, const Place& place) {
    const Mark& mark = marks.at(series % marks.size());
    return fmt::format(
        "<path d=\"M{:.1f} {:.1f}{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", place.x,
        place.y, mark.path, mark.is_open ? "none" : "#ffffff", colour_of(series));
  }

  // Returns closely spaced dots on the curves. Labels avoid these dots, and so the curves.
  [[nodiscard]] std::vector<Place> dots_of_curves() const {
    constexpr double distance = 5;
    std::vector<Place> dots;
    for (const ChartSeries& series : chart_.series) {
      const std::vector<ChartPoint> points = sorted(series);
      for (std::size_t i = 1; i < points.size(); ++i) {
        const Place from{across(points[i - 1].x), down(points[i - 1].y)};
        const Place to{across(points[i].x), down(points[i].y)};
        const int steps = 1 + static_cast<int>(std::hypot(to.x - from.x, to.y - from.y) / distance);
        for (int step = 0; step <= steps; ++step) {
          const double share = static_cast<double>(step) / steps;
          dots.push_back({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
        }
      }
    }
    return dots;
  }

  void draw_notes() {
    const std::vector<Place> dots = dots_of_curves();
    std::vector<Label> taken;
    for (const ChartNote& note : chart_.notes) {
      const std::string text = printable(note.text);
      const double half = text_width(text) / 2 + 2;
      const double from = across(note.x_low);
      const double to = across(note.x_high);
      std::vector<Label> candidates;
      for (const double aside : {-9.0, 19.0, -24.0, 34.0}) {
        for (const double share : {0.5, 0.25, 0.75}) {
          const double x = std::clamp(from + share * (to - from), left_ + half + 3,
                                      left_ + plot_width_ - half - 3);
          candidates.push_back({{x, down(note.y) + aside}, half});
        }
      }
      const Label* const label = choose(candidates, taken, dots);
      if (label == nullptr) continue;
      taken.push_back(*label);
      svg_ += fmt::format(
          R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" font-weight="600" fill="{}" stroke="#ffffff" stroke-width="4" paint-order="stroke">{}</text>
)",
          label->place.x, label->place.y, colour_of(look_of(static_cast<std::size_t>(note.series))),
          html_text(text));
    }
  }

  // Returns the legend as SVG, and sets the picture's height to the end of the legend.
  std::string draw_legend() {
    constexpr double line_length = 28;
    double x = left_;
    double y = bottom + 68;
    std::string legend;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const std::string name = cut_to_width(printable(chart_.series[i].name), 60, "…");
      const double room = line_length + 8 + 1.15 * text_width(name) + 24;
      if (x > left_ && x + room > width) {
        x = left_;
        y += legend_row;
      }
      const std::size_t look = look_of(i);
      const std::string_view dash = dashes.at(look % dashes.size());
      legend += fmt::format(
          R"(<path d="M{:.1f} {:.1f}h{}" stroke="{}" stroke-width="2.4"{}/><text x="{:.1f}" y="{:.1f}" fill="#1a1d21">{}</text>
)",
          x, y - 4.5, line_length, colour_of(look),
          dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash), x + line_length + 8, y,
          html_text(name));
      legend += draw_mark(look, {x + line_length / 2, y - 4.5});
      x += room;
    }
    height_ = y + 18;
    return legend;
  }

  const Chart& chart_;
  Axis x_;
  Axis y_;
  Axis beside_;
  double left_;
  double plot_width_;
  std::string svg_{};
  double height_{bottom + 30};
};

}  // namespace

std::string value_text(const ChartPoint& point, std::string_view unit) {
  std::string text = quantity_text(point.y, unit);
  const std::string low = quantity_text(point.low, unit);
  const std::string high = quantity_text(point.high, unit);
  const bool is_exact = low == text && high == text;
  if (point.high > point.low && !is_exact) text += fmt::format(" ({} to {})", low, high);
  if (point.cycles) text += fmt::format(", {} cycles", quantity_text(*point.cycles, "cycles"));
  return text + (point.remark.empty() ? "" : ", " + point.remark);
}

std::string picture_head(const PictureText& text, double height) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1:.0f}" width="{0}" height="{1:.0f}" role="img" font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13">
<title>{2}</title>
<desc>{3}</desc>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="{4}" y="30" font-size="18" font-weight="600" fill="#1a1d21">{2}</text>
<text x="{4}" y="52" fill="#50565e">{5}</text>
)",
      width, height, html_text(text.title), html_text(text.description), left,
      html_text(text.subtitle));
}

std::string draw_picture(const Chart& chart, const PictureText& text) {
  return Picture(chart).draw(text);
}

namespace {

// Fills by the number of the category. Neighbouring fills also differ in brightness, and the
// unattributed share has the lightest fill.
constexpr std::array<std::string_view, 11> fills{"#d3dce5", "#2b2926", "#c98a55", "#0a5fae",
                                                 "#7cc4bb", "#b84fae", "#e3cf5a", "#3a4a1a",
                                                 "#efb4b8", "#f4efe6", "#9aa1a9"};
static_assert(fills.size() == known_categories.size());
constexpr double names = 300;  // width of the names on the left of the bars
constexpr double bars_width = picture::width - names - picture::right;
constexpr int max_name = 40;

std::string_view fill_of(std::size_t number) { return fills.at(number % fills.size()); }

/// Range of the axis: from the end of the longest bar below 0 to the end of the longest bar above
/// 0, and at least from 0 to 1.
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

/// Returns what removing a cause saves: ", removal saves at most 31 % of the program's ...". Empty
/// for other views, which account for cycles and do not state what would be saved.
std::string app_text(const Stack& stack, const StackPart& part) {
  const bool is_cause = stack.view == stack_view_shapley && part.label != stack_remainder &&
                        part.label != stack_not_resolved && part.share > 0.0;
  if (!stack.app_share || !is_cause) return {};
  const std::string_view bound = part.reason.starts_with("at least") ? "at least" : "at most";
  return fmt::format(", removal saves {} {} of the program's device time", bound,
                     quantity_text(part.share * *stack.app_share, "share"));
}

/// Returns the time of a part and what its removal saves: ", 1.23 ms, removal saves at most ...".
std::string effect_text(const Stack& stack, const StackPart& part) {
  const bool is_timed = stack.time && *stack.time > 0.0;
  const Stack alone{.time = part.share * stack.time.value_or(0.0), .time_unit = stack.time_unit};
  return (is_timed ? ", " + time_text(alone) : "") + app_text(stack, part);
}

constexpr double row_height = 26;
constexpr double bar_height = 18;

/// Returns a bar as SVG. Parts with a share above 0 are drawn to the right of 0, parts with a share
/// below 0 to the left: removing such a cause would cost time.
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

/// Returns the axis as SVG, with a line at 0 and a tick every 25 %, or fewer ticks on a long axis.
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
  const double below_top = (bar_height - 9) / 2 + 9;  // base line of a bar's name
  const double bars_end = picture::top + row_height * static_cast<double>(stacks.size());
  const std::size_t legend_rows = (categories.size() + legend_columns - 1) / legend_columns;
  std::string svg =
      picture_head(text, bars_end + 40 + legend_row * static_cast<double>(legend_rows) + 8);
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
  svg += axis_at(bars_end + 16, reach);
  const double column = (picture::width - picture::left) / static_cast<double>(legend_columns);
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const double x = 24 + column * static_cast<double>(i % legend_columns);
    const std::size_t line = i / legend_columns;
    const double row = bars_end + 40 + legend_row * static_cast<double>(line);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" fill=\"{}\" "
        "stroke=\"#50565e\" stroke-width=\"0.5\"/>\n<text "
        "x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#1a1d21\">{}</text>\n",
        x, row, fill_of(numbers[i]), x + 20, row + 11.5, html_text(categories[i]));
  }
  return svg + "</svg>\n";
}

}  // namespace clprobe::report
