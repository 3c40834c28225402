// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "clprobe/report.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/grids.hpp"
#include "report/html_text.hpp"
#include "report/side_by_side.hpp"
#include "report/text.hpp"

namespace clprobe {
namespace report {
namespace {

using picture::bottom;
using picture::left;
using picture::plot_height;
using picture::plot_width;
using picture::top;
using picture::width;

constexpr double legend_row = 22;
constexpr double letter_width = 7;  // of 13 px type, on average and a little more

// Contrast of at least 4.5 with white, and different in print without colour by their dashes.
constexpr std::array colours{"#0b5fc0", "#b8400a", "#0a7068", "#9a1fb0",
                             "#4a7310", "#b81c2c", "#5b3fd0", "#57534e"};
constexpr std::array dashes{"", "7 4", "2 3", "10 3 2 3", "4 2", "1 4", "12 4", "6 2 2 2"};

std::string_view colour_of(std::size_t series) { return colours.at(series % colours.size()); }

double text_width(std::string_view text) { return letter_width * display_width(text); }

struct Place {
  double x{0.0};
  double y{0.0};
};

/// A text of one line, by the middle of its base line.
struct Label {
  Place place{};
  double half_width{0.0};

  [[nodiscard]] bool overlaps(const Label& other) const {
    constexpr double line_height = 15;
    return std::fabs(place.x - other.place.x) < half_width + other.half_width &&
           std::fabs(place.y - other.place.y) < line_height;
  }
  [[nodiscard]] bool covers(const Place& dot) const {
    constexpr double above = 13;
    constexpr double below = 4;
    return std::fabs(place.x - dot.x) < half_width + 2 && dot.y > place.y - above &&
           dot.y < place.y + below;
  }
};

// Above or below the plateau where no curve is; else where at least no other text is; else
// nothing.
const Label* choose(const std::vector<Label>& candidates, const std::vector<Label>& taken,
                    const std::vector<Place>& dots) {
  const Label* second_best = nullptr;
  for (const Label& label : candidates) {
    const bool is_free = label.place.y > top + 12 && label.place.y < bottom - 3 &&
                         std::none_of(taken.begin(), taken.end(),
                                      [&](const Label& each) { return label.overlaps(each); });
    if (!is_free) continue;
    const bool covers_curve =
        std::any_of(dots.begin(), dots.end(), [&](const Place& dot) { return label.covers(dot); });
    if (!covers_curve) return &label;
    if (second_best == nullptr) second_best = &label;
  }
  return second_best;
}

class Picture {
 public:
  explicit Picture(const Chart& chart)
      : chart_(chart), x_(x_axis_of(chart)), y_(y_axis_of(chart)) {}

  std::string draw(const PictureText& text) {
    const std::string legend = draw_legend();
    svg_ = picture_head(text, height_);
    if (x_.high > x_.low) {
      draw_axes();
      for (std::size_t i = chart_.series.size(); i-- > 0;) draw_curve(i);
      draw_notes();
      svg_ += legend;
    } else {
      svg_ += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#1a1d21\">no curve was measured</text>\n",
                          left, top + 20);
    }
    return svg_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double across(double value) const { return left + plot_width * x_.share(value); }
  [[nodiscard]] double down(double value) const {
    return bottom - plot_height * std::clamp(y_.share(value), 0.0, 1.0);
  }

  [[nodiscard]] std::vector<double> x_values() const {
    constexpr double least_gap = 64;
    std::vector<double> values;
    if (parameter_unit(chart_.x_name) == "bytes") {
      const double octave = plot_width / ((x_.high - x_.low) / std::log(2.0));
      int step = 1;
      for (const int octaves : {1, 2, 5, 10, 20}) {
        step = octaves;
        if (octave * octaves >= least_gap) break;
      }
      for (int power = 0; power < 63; power += step) values.push_back(std::ldexp(1.0, power));
    } else {
      for (const ChartSeries& series : chart_.series) {
        for (const ChartPoint& point : series.points) values.push_back(point.x);
      }
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      constexpr std::size_t most_own = 12;  // more of them say nothing about where the points are
      if (values.size() > most_own) values = round_values();
    }
    std::vector<double> kept;
    constexpr double rounding = 1e-9;
    for (const double value : values) {
      if (std::log(value) < x_.low - rounding || std::log(value) > x_.high + rounding) continue;
      if (kept.empty() || across(value) >= across(kept.back()) + least_gap / 2) {
        kept.push_back(value);
      }
    }
    return kept;
  }

  /// 1, 2 and 5 of every power of ten on the axis.
  [[nodiscard]] std::vector<double> round_values() const {
    std::vector<double> values;
    const auto first = static_cast<int>(std::floor(x_.low / std::log(10.0)));
    for (int power = first; power * std::log(10.0) <= x_.high; ++power) {
      for (const double digit : {1.0, 2.0, 5.0}) values.push_back(digit * std::pow(10.0, power));
    }
    return values;
  }

  void draw_axes() {
    constexpr double least_gap = 26;
    for (const double value : y_ticks_of(y_, least_gap / plot_height)) {
      svg_ += fmt::format(
          R"(<path d="M{0} {1:.1f}H{2}" stroke="#e3e6ea"/><text x="{3}" y="{4:.1f}" text-anchor="end" fill="#50565e">{5}</text>
)",
          left, down(value), left + plot_width, left - 8, down(value) + 4.5,
          html_text(tick_text(value, chart_.y_unit)));
    }
    for (const double value : x_values()) {
      svg_ += fmt::format(
          R"(<path d="M{0:.1f} {1}V{2}" stroke="#eef0f2"/><text x="{0:.1f}" y="{3}" text-anchor="middle" fill="#50565e">{4}</text>
)",
          across(value), top, bottom, bottom + 19, html_text(tick_text_of_parameter(value)));
    }
    svg_ += fmt::format(
        R"(<path d="M{0} {1}V{2}H{3}" fill="none" stroke="#50565e"/><text x="{4}" y="{5}" text-anchor="middle" fill="#1a1d21">{6}</text>
)",
        left, top, bottom, left + plot_width, left + plot_width / 2, bottom + 42,
        html_text(parameter_title(chart_.x_name)));
  }

  [[nodiscard]] std::string tick_text_of_parameter(double value) const {
    const bool is_whole = value == std::floor(value) && value < 1e15;
    const Value shown = is_whole ? Value{static_cast<std::int64_t>(value)} : Value{value};
    return parameter_text(chart_.x_name, shown);
  }

  void draw_curve(std::size_t i) {
    std::string path;
    const std::vector<ChartPoint> points = sorted(chart_.series[i]);
    for (const ChartPoint& point : points) {
      path +=
          fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", across(point.x), down(point.y));
    }
    // A single point is a line of no length, which a round cap makes a dot.
    if (points.size() == 1) path += "h0";
    const std::string_view dash = dashes.at(i % dashes.size());
    svg_ += fmt::format(
        R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round" stroke-linecap="round"{}/>
)",
        path, colour_of(i), i == 0 ? 2.4 : 1.8,
        dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
  }

  // The curves as dots close to each other, which texts should not cover.
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
          const double x =
              std::clamp(from + share * (to - from), left + half + 3, left + plot_width - half - 3);
          candidates.push_back({{x, down(note.y) + aside}, half});
        }
      }
      const Label* const label = choose(candidates, taken, dots);
      if (label == nullptr) continue;
      taken.push_back(*label);
      svg_ += fmt::format(
          R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" font-weight="600" fill="{}" stroke="#ffffff" stroke-width="4" paint-order="stroke">{}</text>
)",
          label->place.x, label->place.y, colour_of(static_cast<std::size_t>(note.series)),
          html_text(text));
    }
  }

  // Sets the height, too.
  std::string draw_legend() {
    constexpr double line_length = 28;
    double x = left;
    double y = bottom + 68;
    std::string legend;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const std::string name = cut(printable(chart_.series[i].name), 60, "…");
      const double room = line_length + 8 + text_width(name) + 24;
      if (x > left && x + room > width) {
        x = left;
        y += legend_row;
      }
      const std::string_view dash = dashes.at(i % dashes.size());
      legend += fmt::format(
          R"(<path d="M{:.1f} {:.1f}h{}" stroke="{}" stroke-width="2.4"{}/><text x="{:.1f}" y="{:.1f}" fill="#1a1d21">{}</text>
)",
          x, y - 4.5, line_length, colour_of(i),
          dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash), x + line_length + 8, y,
          html_text(name));
      x += room;
    }
    height_ = y + 18;
    return legend;
  }

  const Chart& chart_;
  Axis x_;
  Axis y_;
  std::string svg_{};
  double height_{bottom + 30};
};

}  // namespace

namespace {

// Of one run: its chart. Of several: the first run's first series, whose name is stored, on each
// device that has it.
Chart shared_chart(std::span<const Run> runs, std::string_view probe, std::string& series_name) {
  Chart shared;
  const std::vector<std::string> titles = run_titles(runs);
  for (std::size_t number = 0; number < runs.size(); ++number) {
    const Run& run = runs[number];
    const ProbeResult* const result = find_result(run, probe);
    if (result == nullptr) continue;
    Chart chart = chart_of(*result, run.device);
    if (runs.size() == 1) return chart;
    if (chart.series.empty()) continue;
    if (shared.series.empty()) {
      shared.x_name = chart.x_name;
      shared.y_unit = chart.y_unit;
      series_name = chart.series.front().name;
    }
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      if (chart.series[i].name != series_name) continue;
      for (ChartNote& note : chart.notes) {
        if (note.series != static_cast<int>(i)) continue;
        note.series = static_cast<int>(shared.series.size());
        shared.notes.push_back(std::move(note));
      }
      shared.series.push_back({titles[number], std::move(chart.series[i].points)});
      break;
    }
  }
  return shared;
}

}  // namespace

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

std::string device_title_of(const Run& run, std::string_view what) {
  return fmt::format("{}: {}", what, cut(printable(run.device.name), 60, "…"));
}

std::string provenance_of(const Run& run) {
  return cut(printable(fmt::format("{}, driver {}, {}, clprobe {}", run.device.platform,
                                   run.device.driver, run.started.substr(0, 10), run.tool.version)),
             108, "…");
}

std::string description_of(const Chart& chart) {
  std::string text = fmt::format("Logarithmic axes, {} curves.", chart.series.size());
  for (const ChartNote& note : chart.notes) {
    const std::string& name = chart.series[static_cast<std::size_t>(note.series)].name;
    text += fmt::format(
        " {}{}: {} up to {}.", printable(name),
        note.level ? fmt::format(", level {}", *note.level) : std::string(), printable(note.text),
        parameter_text(chart.x_name, Value{static_cast<std::int64_t>(note.x_high)}));
  }
  return text;
}

std::string description_of(std::span<const Stack> stacks) {
  std::string text = fmt::format("Bars of {} kernels, each the whole of its time.", stacks.size());
  for (const Stack& stack : stacks) {
    const auto most =
        std::max_element(stack.parts.begin(), stack.parts.end(),
                         [](const StackPart& a, const StackPart& b) { return a.share < b.share; });
    text += fmt::format(" {}: {} {} %.", printable(stack.bar), printable(most->label),
                        share_text(*most));
  }
  return text;
}

/// Of more curves than can be told apart the first; returns how many there were.
std::size_t keep_first_curves(Chart& chart) {
  constexpr std::size_t most = 10;
  constexpr std::size_t few = 5;
  const std::size_t count = chart.series.size();
  if (count <= most) return count;
  chart.series.resize(few);
  std::erase_if(chart.notes,
                [](const ChartNote& note) { return note.series >= static_cast<int>(few); });
  return count;
}

std::string picture_of_curves(std::span<const Run> runs, std::string_view probe) {
  std::string series;
  Chart chart = shared_chart(runs, probe, series);
  const std::size_t count = runs.size() == 1 ? keep_first_curves(chart) : chart.series.size();
  const std::string what = printable(words(probe));
  PictureText text{.description = description_of(chart)};
  if (runs.size() == 1) {
    text.title = device_title_of(runs.front(), what);
    text.subtitle = provenance_of(runs.front());
    if (chart.series.size() < count) {
      text.subtitle = fmt::format("{} of {} curves. {}", chart.series.size(), count, text.subtitle);
    }
  } else {
    text.title = fmt::format("{} of {} devices", what, chart.series.size());
    text.subtitle = cut(printable(series), 60, "…");
  }
  return draw_picture(chart, text);
}

/// Of the first run that has any, in its first view.
std::optional<std::string> picture_of_stacks(const Run& run, const ProbeResult& result) {
  const std::vector<std::vector<Stack>> views = views_of(result.findings);
  if (views.empty()) return std::nullopt;
  const std::string view = view_title(views.front().front().view);
  PictureText text{device_title_of(run, printable(words(result.probe))),
                   fmt::format("{}. {}", cut(printable(view), 60, "…"), provenance_of(run)),
                   description_of(views.front())};
  text.subtitle = cut(text.subtitle, 108, "…");
  return draw_stacks(views.front(), text);
}

}  // namespace

std::string picture_of(std::span<const Run> runs, std::string_view probe) {
  for (const Run& run : runs) {
    const ProbeResult* const result = find_result(run, probe);
    if (result == nullptr) continue;
    if (const auto stacks = picture_of_stacks(run, *result)) return *stacks;
    const std::optional<GridAxes> axes = heat_map_axes(*result);
    if (!axes) continue;
    const std::vector<Grid> grids = grids_of(*result, run.device, *axes);
    if (grids.empty()) continue;
    const std::string what = printable(words(probe));
    const std::string series = cut(printable(grids.front().series), 30, "…");
    PictureText text{device_title_of(run, what), fmt::format("{}. {}", series, provenance_of(run)),
                     fmt::format("A heat map by {} and {}.", printable(parameter_title(axes->x)),
                                 printable(parameter_title(axes->y)))};
    text.subtitle = cut(text.subtitle, 108, "…");
    return draw_heat_map(grids.front(), *axes, unit_of(*result), text);
  }
  return picture_of_curves(runs, probe);
}

}  // namespace report

std::string render_svg(std::span<const Run> runs, std::string_view probe) {
  return report::picture_of(runs, probe);
}

}  // namespace clprobe
