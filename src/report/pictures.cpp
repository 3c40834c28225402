// SPDX-License-Identifier: Apache-2.0
// Which picture is drawn of which runs, and what stands above it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/report.hpp"
#include "report/beside.hpp"
#include "report/curves.hpp"
#include "report/device_text.hpp"
#include "report/findings.hpp"
#include "report/grids.hpp"
#include "report/page_axes.hpp"
#include "report/plots.hpp"
#include "report/side_by_side.hpp"
#include "report/svg.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace report {
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
    if (runs.size() == 1) {
      Chart alone = chart_without_map(*result, run.device);
      Chart beside = beside_chart(*result);
      alone.beside = std::move(beside.series);
      alone.beside_title = std::move(beside.y_title);
      return alone;
    }
    Chart chart = chart_of(*result, run.device);
    if (chart.series.empty()) continue;
    if (shared.series.empty()) {
      shared.x_name = chart.x_name;
      shared.y_unit = chart.y_unit;
      shared.y_title = chart.y_title;
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

std::string device_title_of(const Run& run, std::string_view what) {
  return fmt::format("{}: {}", what, cut_to_width(printable(name_of(run)), 60, "…"));
}

/// What is drawn, and as much of where it comes from as fits: the version goes first, and no part
/// is cut.
std::string subtitle_of(const std::string& what, const Run& run) {
  constexpr int most = 108;  // columns that the picture has
  std::string text = what;
  std::string_view between = what.empty() ? "" : ". ";
  for (const std::string& part :
       {cut_to_width(run.device.platform, 60, "…"), "driver " + run.device.driver,
        run.started.substr(0, 10), "clprobe " + run.tool.version}) {
    const std::string longer = fmt::format("{}{}{}", text, between, printable(part));
    if (display_width(longer) > most) break;
    text = longer;
    between = ", ";
  }
  return text;
}

std::string description_of(const Chart& chart) {
  std::string text =
      fmt::format("{} axes, {} curves.", chart.scale == Scale::linear ? "Linear" : "Logarithmic",
                  chart.series.size());
  for (const ChartNote& note : chart.notes) {
    const std::string& name = chart.series[static_cast<std::size_t>(note.series)].name;
    text += fmt::format(" {}{}: {} up to {}.", printable(name),
                        note.level ? fmt::format(", level {}", *note.level) : std::string(),
                        printable(note.text), place_text(chart.x_name, note.x_high));
  }
  return text;
}

std::string description_of(std::span<const Stack> stacks) {
  std::string text =
      fmt::format("Bars of {} kernels; each bar is the kernel's whole time.", stacks.size());
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
  std::erase_if(chart.beside, [&](const ChartSeries& each) {
    return std::none_of(chart.series.begin(), chart.series.end(),
                        [&](const ChartSeries& kept) { return kept.name == each.name; });
  });
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
    const bool is_part = chart.series.size() < count;
    text.subtitle = subtitle_of(
        is_part ? fmt::format("{} of {} curves", chart.series.size(), count) : "", runs.front());
  } else {
    text.title = fmt::format("{} of {} devices", what, chart.series.size());
    text.subtitle = cut_to_width(printable(series), 60, "…");
  }
  return draw_picture(chart, text);
}

/// Of the first run that has any, in its first view.
std::optional<std::string> picture_of_stacks(const Run& run, const ProbeResult& result) {
  const std::vector<std::vector<Stack>> views = views_of(result.findings);
  if (views.empty()) return std::nullopt;
  const std::string view = view_title(views.front().front().view);
  PictureText text{device_title_of(run, printable(words(result.probe))),
                   subtitle_of(cut_to_width(printable(view), 60, "…"), run),
                   description_of(views.front())};
  return draw_stacks(views.front(), text);
}

}  // namespace

/// The colours of a dark page (report.css) in place of those that pictures are drawn with.
constexpr std::string_view dark_style = R"(<style>
@media (prefers-color-scheme: dark) {
[fill="#ffffff"] { fill: #191d23; } [stroke="#ffffff"] { stroke: #191d23; }
[fill="#1a1d21"] { fill: #e8ebef; }
[fill="#50565e"] { fill: #a7b0ba; } [stroke="#50565e"] { stroke: #a7b0ba; }
[stroke="#e3e6ea"], [stroke="#eef0f2"] { stroke: #2a3038; }
[fill="#0b5fc0"] { fill: #6cb0ff; } [stroke="#0b5fc0"] { stroke: #6cb0ff; }
[fill="#b8400a"] { fill: #ffa365; } [stroke="#b8400a"] { stroke: #ffa365; }
[fill="#0a7068"] { fill: #4fd1c2; } [stroke="#0a7068"] { stroke: #4fd1c2; }
[fill="#9a1fb0"] { fill: #ea8cf3; } [stroke="#9a1fb0"] { stroke: #ea8cf3; }
[fill="#4a7310"] { fill: #a5d151; } [stroke="#4a7310"] { stroke: #a5d151; }
[fill="#b81c2c"] { fill: #ff8b8b; } [stroke="#b81c2c"] { stroke: #ff8b8b; }
[fill="#5b3fd0"] { fill: #b7a4ff; } [stroke="#5b3fd0"] { stroke: #b7a4ff; }
[fill="#57534e"] { fill: #c9c3bd; } [stroke="#57534e"] { stroke: #c9c3bd; }
}
</style>
)";

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
    const std::string series = cut_to_width(printable(grids.front().series), 30, "…");
    PictureText text{device_title_of(run, what), subtitle_of(series, run),
                     fmt::format("Heat map by {} and {}.", printable(parameter_title(axes->x)),
                                 printable(parameter_title(axes->y)))};
    return draw_heat_map(grids.front(), *axes, unit_of(*result), text);
  }
  return picture_of_curves(runs, probe);
}

}  // namespace report

std::string render_svg(std::span<const Run> runs, std::string_view probe) {
  std::string svg = report::picture_of(runs, probe);
  // In a page of its own colours a picture stays light, as the page's style says.
  return svg.insert(svg.find('\n') + 1, report::dark_style);
}

}  // namespace clprobe
