// SPDX-License-Identifier: Apache-2.0
// The format `svg`, and the choice and titles of pictures for runs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "present/api/report.hpp"
#include "present/curves.hpp"
#include "present/device_text.hpp"
#include "present/findings.hpp"
#include "present/heat_map.hpp"
#include "present/side_by_side.hpp"
#include "present/svg.hpp"
#include "text/api/text.hpp"

namespace clprobe {
namespace report {
namespace {

// A result with more than `max_curves` curves has pictures of `few_curves` curves each.
constexpr std::size_t max_curves = 10;
constexpr std::size_t few_curves = 5;

std::string short_name(std::string_view name) { return cut_to_width(printable(name), 60, "…"); }

std::string device_title_of(const Run& run, std::string_view what) {
  return fmt::format("{}: {}", what, short_name(name_of(run)));
}

/// Returns a picture's subtitle: `what`, followed by as many facts about the run as fit: platform,
/// driver, date and clprobe's version.
std::string subtitle_of(const std::string& what, const Run& run) {
  constexpr int most = 108;  // width of a picture in characters
  std::string text = what;
  std::string_view between = what.empty() ? "" : ". ";
  for (const std::string& part : {short_name(run.device.platform), "driver " + run.device.driver,
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
    text += fmt::format(" {}{}: {}, measured up to {}.", printable(name),
                        note.level ? fmt::format(", level {}", *note.level) : std::string(),
                        printable(note.text), coordinate_text(chart.x_name, note.x_high));
  }
  return text;
}

std::string description_of(std::span<const Stack> stacks) {
  std::string text =
      fmt::format("Bars of {} kernels; each bar is the total time of one kernel.", stacks.size());
  for (const Stack& stack : stacks) {
    const auto most = std::ranges::max_element(
        stack.parts, [](const StackPart& a, const StackPart& b) { return a.share < b.share; });
    text += fmt::format(" {}: {} {} %.", printable(stack.bar), printable(most->label),
                        share_text(*most));
  }
  return text;
}

Chart curves_from(const Chart& chart, std::size_t first, std::size_t count) {
  Chart part = chart;
  const auto begin = chart.series.begin() + static_cast<std::ptrdiff_t>(first);
  part.series.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  for (ChartNote& note : part.notes) note.series -= static_cast<int>(first);
  std::erase_if(part.notes, [&](const ChartNote& note) {
    return note.series < 0 || note.series >= static_cast<int>(count);
  });
  std::erase_if(part.beside, [&](const ChartSeries& each) {
    return std::ranges::none_of(part.series,
                                [&](const ChartSeries& kept) { return kept.name == each.name; });
  });
  return part;
}

class Figures {
 public:
  Figures(std::span<const Run> runs, std::string_view probe, bool has_values)
      : runs_(runs), probe_(probe), has_values_(has_values), what_(printable(words(probe))) {}

  /// Returns the figures of stacks; if there are no stacks, those of heat maps; otherwise those of
  /// curves. Returns at least one figure.
  std::vector<Figure> views() {
    add_stacks();
    if (figures_.empty()) add_heat_maps();
    if (figures_.empty() && runs_.size() == 1) add_curves_of(runs_.front());
    if (figures_.empty()) add_curves_of_all();
    figures_.front().is_folded = false;
    return std::move(figures_);
  }

  /// Returns the figures of the plots on the probe's card, sorted by plot and then by run.
  std::vector<Figure> plots() {
    struct Plot {
      const Run* run;
      TitledChart plot;
    };
    std::vector<Plot> plots;
    std::vector<std::string> titles;
    for (const auto& [number, result] : results_of(runs_, probe_)) {
      const Run* const run = &runs_[number];
      for (TitledChart& plot : charts_of_plots(*result, run->device)) {
        add_once(titles, plot.title);
        plots.push_back({run, std::move(plot)});
      }
    }
    for (const std::string& title : titles) {
      bool is_first = true;
      for (const auto& [run, plot] : plots) {
        if (plot.title != title) continue;
        const std::string device =
            short_name(run->label.empty() ? model_of(run->device) : run->label);
        add(is_first ? title : of_run(*run, title),
            draw_picture(plot.chart, text(title, device, "Logarithmic axes.")));
        figures_.back().is_folded = !is_first;
        is_first = false;
      }
    }
    return std::move(figures_);
  }

  /// Returns the first picture of the plot with this title. Without such a plot, returns a picture
  /// that says so.
  std::string plot(const std::string& title) {
    for (Figure& each : plots()) {
      if (each.title == title) return std::move(each.svg);
    }
    return draw_picture({}, text(title, {}, {}));
  }

 private:
  [[nodiscard]] PictureText text(std::string title, std::string subtitle,
                                 std::string description) const {
    return {std::move(title), std::move(subtitle), std::move(description), has_values_};
  }

  void add(std::string title, std::string svg) {
    figures_.push_back({std::move(title), std::move(svg), true});
  }

  /// Returns a title, preceded by the run's name if there are several runs.
  [[nodiscard]] std::string of_run(const Run& run, std::string_view title) const {
    return runs_.size() == 1 ? std::string(title) : fmt::format("{}: {}", name_of(run), title);
  }

  void add_bars(const Run& run, const std::vector<Stack>& stacks, const std::string& title) {
    add(of_run(run, title),
        draw_stacks(stacks, text(device_title_of(run, what_), subtitle_of(short_name(title), run),
                                 description_of(stacks))));
  }

  void add_stacks() {
    for (const auto& [number, result] : results_of(runs_, probe_)) {
      const Run* const run = &runs_[number];
      const std::vector<std::vector<Stack>> views = views_of(result->findings);
      for (const std::vector<Stack>& view : views) {
        add_bars(*run, view, view_title(view.front().view));
      }
      for (const std::vector<Stack>& view : views) {
        for (const std::string& category : divided_categories(view)) {
          const std::vector<Stack> stacks = stacks_of_category(view, category);
          if (stacks.empty()) continue;
          add_bars(*run, stacks,
                   fmt::format("{} alone, {}", category, view_title(view.front().view)));
        }
      }
    }
  }

  void add_heat_maps() {
    std::vector<std::pair<const Run*, Grid>> maps;
    for (const auto& [number, result] : results_of(runs_, probe_)) {
      const Run* const run = &runs_[number];
      for (Grid& grid : grids_of(*result, run->device)) maps.emplace_back(run, std::move(grid));
    }
    for (const auto& [run, grid] : maps) {
      std::vector<Grid> on_scale;
      for (const auto& [other_run, other] : maps) {
        if (other.series == grid.series) on_scale.push_back(other);
      }
      const std::string series = cut_to_width(printable(grid.series), 30, "…");
      add(of_run(*run, grid.series),
          draw_heat_map(
              grid, on_scale,
              text(device_title_of(*run, what_), subtitle_of(series, *run),
                   fmt::format("Heat map by {} and {}.", printable(parameter_title(grid.axes.x)),
                               printable(parameter_title(grid.axes.y))))));
    }
  }

  void add_curves_of(const Run& run) {
    Chart chart;
    if (const ProbeResult* const result = find_result(run, probe_)) {
      chart = chart_without_map(*result, run.device);
      Chart beside = beside_chart(*result);
      chart.beside = std::move(beside.series);
      chart.beside_title = std::move(beside.y_title);
    }
    const std::size_t count = chart.series.size();
    const std::size_t step = count > max_curves ? few_curves : std::max<std::size_t>(1, count);
    for (std::size_t first = 0; first == 0 || first < count; first += step) {
      const Chart part = curves_from(chart, first, std::min(step, count - first));
      std::string shown;
      if (part.series.size() < count) {
        shown = first == 0 ? fmt::format("{} of {} curves", step, count)
                           : fmt::format("curves {} to {} of {}", first + 1,
                                         first + part.series.size(), count);
      }
      add(shown, draw_picture(part, text(device_title_of(run, what_), subtitle_of(shown, run),
                                         description_of(part))));
    }
  }

  /// Adds a figure per series, with a curve for each run that has the series. The figures have the
  /// order of the first run's series.
  void add_curves_of_all() {
    std::vector<Chart> charts(runs_.size());
    std::vector<std::string> names;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const ProbeResult* const result = find_result(runs_[run], probe_);
      if (result != nullptr) charts[run] = chart_of(*result, runs_[run].device);
      for (const ChartSeries& series : charts[run].series) {
        add_once(names, series.name);
      }
    }
    if (names.empty()) names.emplace_back();
    for (const std::string& name : names) {
      const Chart shared = shared_chart(charts, name);
      add(name,
          draw_picture(shared, text(fmt::format("{} of {} devices", what_, shared.series.size()),
                                    short_name(name), description_of(shared))));
    }
  }

  /// Returns a chart with the series called `name` of each run.
  [[nodiscard]] Chart shared_chart(std::span<const Chart> charts, const std::string& name) const {
    Chart shared;
    const std::vector<std::string> titles = run_titles(runs_);
    for (std::size_t run = 0; run < charts.size(); ++run) {
      const Chart& chart = charts[run];
      const auto series = std::ranges::find(chart.series, name, &ChartSeries::name);
      if (series == chart.series.end()) continue;
      if (shared.series.empty()) {
        shared.x_name = chart.x_name;
        shared.y_unit = chart.y_unit;
        shared.y_title = chart.y_title;
        shared.scale = chart.scale;
      }
      for (ChartNote note : chart.notes) {
        if (note.series != series - chart.series.begin()) continue;
        note.series = static_cast<int>(shared.series.size());
        shared.notes.push_back(std::move(note));
      }
      shared.series.push_back({titles[run], series->points, run});
    }
    return shared;
  }

  std::span<const Run> runs_;
  std::string_view probe_;
  bool has_values_;
  std::string what_;
  std::vector<Figure> figures_{};
};

}  // namespace

std::vector<Figure> figures_of(std::span<const Run> runs, std::string_view probe) {
  std::vector<Figure> figures = Figures(runs, probe, true).views();
  figures.front().title.clear();
  for (Figure& plot : Figures(runs, probe, true).plots()) figures.push_back(std::move(plot));
  return figures;
}

/// Style that replaces the colours of a picture by the dark colours of report.css.
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

}  // namespace report

namespace {

std::string svg_of_runs(std::span<const Run> runs, const TableStyle& style) {
  report::Figures figures(runs, style.probe, false);
  std::string svg = style.plot.empty() ? figures.views().front().svg : figures.plot(style.plot);
  // Adds the dark style only to files, since the style sheet of an HTML page decides its pictures'
  // colours.
  return svg.insert(svg.find('\n') + 1, report::dark_style);
}

}  // namespace

constexpr Writer formats::svg{
    .name = "svg",
    .ending = ".svg",
    .details =
        "An `.svg` file is one chart. If the run has several probes, begin the file name with the "
        "probe to draw, as in `latency.svg`, or with another chart's name, as in `roofline.svg`. ",
    .runs = svg_of_runs,
    .is_of_one_probe = true};

}  // namespace clprobe
