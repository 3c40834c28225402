// SPDX-License-Identifier: Apache-2.0
#include "report/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "clprobe/estimate.hpp"
#include "report/curves.hpp"
#include "report/findings.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

std::set<double> values_of(const std::vector<Point>& points, std::string_view name) {
  std::set<double> values;
  for (const Point& point : points) {
    if (const auto value = numeric(point, name)) values.insert(*value);
  }
  return values;
}

/// The pair of numeric parameters that makes the fullest grid, by name where several do: at least
/// half of its places are points, and each parameter has at least `min_values` values. The one
/// with more values is x.
std::optional<GridAxes> grid_axes(const std::vector<Point>& points, std::size_t min_values) {
  constexpr double min_filled = 0.5;
  std::set<std::string> names;
  for (const Point& point : points) {
    for (const auto& [name, value] : point.parameters) names.insert(name);
  }
  std::map<std::string_view, std::size_t> values;
  for (const std::string& name : names) {
    const std::size_t count = values_of(points, name).size();
    if (count >= min_values) values[name] = count;
  }
  std::optional<GridAxes> best;
  std::size_t most = 0;
  for (auto a = values.begin(); a != values.end(); ++a) {
    for (auto b = std::next(a); b != values.end(); ++b) {
      const std::size_t across = a->second;
      const std::size_t down = b->second;
      const double cells = static_cast<double>(across) * static_cast<double>(down);
      if (static_cast<double>(points.size()) < min_filled * cells) continue;
      std::set<std::pair<double, double>> pairs;
      for (const Point& point : points) {
        const auto x = numeric(point, a->first);
        const auto y = numeric(point, b->first);
        if (x && y) pairs.insert({*x, *y});
      }
      const bool is_grid = static_cast<double>(pairs.size()) >= min_filled * cells;
      if (!is_grid || pairs.size() <= most) continue;
      most = pairs.size();
      const std::string x(a->first);
      const std::string y(b->first);
      best = across >= down ? GridAxes{x, y} : GridAxes{y, x};
    }
  }
  return best;
}

constexpr std::array unicode_shades{"·", "░", "▒", "▓", "█", "█"};
constexpr std::array ascii_shades{".", ":", "+", "x", "#", "@"};
// With colours the two darkest differ; without them one shade less is used.
constexpr int unicode_levels = 5;
constexpr int ascii_levels = 6;

/// Shades from the least to the greatest value. A map that hardly varies has one shade.
struct Scale {
  double low{0.0};
  double high{0.0};
  int levels{1};

  [[nodiscard]] int level_of(double value) const {
    if (levels < 2) return 0;
    const double share = std::log(value / low) / std::log(high / low);
    if (!(share > 0.0)) return 0;  // or no number
    return static_cast<int>(std::min(share * levels, levels - 1.0));
  }
  /// Where a level begins.
  [[nodiscard]] double begin_of(int level) const {
    return low * std::pow(high / low, static_cast<double>(level) / levels);
  }
};

Scale scale_of(const HeatMap& map, bool is_unicode) {
  const auto [low, high] =
      std::minmax_element(map.cells.begin(), map.cells.end(),
                          [](const HeatCell& a, const HeatCell& b) { return a.value < b.value; });
  // Less than this is noise, and shades would make a pattern of it.
  constexpr double worth_showing = 1.1;
  // A file may hold any number, and the shades are logarithms.
  const bool is_sound = low->value > 0.0 && std::isfinite(high->value);
  const bool varies = is_sound && high->value > worth_showing * low->value;
  return {low->value, high->value, !varies ? 1 : is_unicode ? unicode_levels : ascii_levels};
}

std::string shade_of(int level, bool is_unicode) {
  const auto place = static_cast<std::size_t>(level);
  return is_unicode ? unicode_shades.at(place) : ascii_shades.at(place);
}

/// The columns in pieces that fit: leaving columns out would hide what differs between neighbours.
std::vector<std::vector<double>> pieces_of(const std::set<double>& columns, int room) {
  std::vector<std::vector<double>> pieces;
  for (const double x : columns) {
    if (pieces.empty() || static_cast<int>(pieces.back().size()) >= std::max(room, 1)) {
      pieces.emplace_back();
    }
    pieces.back().push_back(x);
  }
  return pieces;
}

/// Labels below the columns: the first, and then every one that has room. Round numbers first.
std::string axis_labels(const HeatMap& map, const std::vector<double>& columns, int margin) {
  std::string labels = pad_right("", margin);
  int free_from = margin;
  constexpr double round = 8.0;
  constexpr std::size_t few = 16;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_round = columns.size() < few || std::fmod(columns[i], round) == 0.0;
    const std::string text = place_text(map.x_name, columns[i]);
    const int first = margin + static_cast<int>(i);
    if (!is_round || first < free_from) continue;
    labels = pad_right(labels, first);
    labels += text;
    free_from = first + display_width(text) + 1;
  }
  return labels;
}

void draw_rows(Page& page, const HeatMap& map, const Scale& scale,
               const std::vector<double>& columns, const std::vector<double>& rows, int margin) {
  for (const double y : rows) {
    const std::string label = page.show(place_text(map.y_name, y));
    std::vector<Span> spans{{pad_left(label, margin - 1) + " ", Ink::faint}};
    for (const double x : columns) {
      const auto cell =
          std::find_if(map.cells.rbegin(), map.cells.rend(),
                       [&](const HeatCell& each) { return each.x == x && each.y == y; });
      if (cell == map.cells.rend()) {
        spans.push_back({" "});
        continue;
      }
      const int level = scale.level_of(cell->value);
      const std::string shade = shade_of(level, page.is_unicode());
      if (spans.back().ink == Ink::heat && spans.back().series == level) {
        spans.back().text += shade;
      } else {
        spans.push_back({shade, Ink::heat, level});
      }
    }
    page.line(spans);
  }
}

void draw_scale(Page& page, const HeatMap& map, const Scale& scale, int margin) {
  std::vector<Span> spans{{pad_right("", margin)}};
  int used = margin;
  for (int level = 0; level < scale.levels; ++level) {
    const std::string text =
        " " + page.show(quantity_text(scale.begin_of(level), map.unit)) + "   ";
    const int width = 1 + display_width(text);
    if (used + width > page.width() + 3 && level > 0) {
      page.line(spans);
      spans = {{pad_right("", margin)}};
      used = margin;
    }
    used += width;
    spans.push_back({shade_of(level, page.is_unicode()), Ink::heat, level});
    spans.push_back({text, Ink::faint});
  }
  spans.push_back({page.show("to " + quantity_text(scale.high, map.unit)), Ink::faint});
  page.line(spans);
}

/// A grid in cycles where its points have them, else in the unit of the probe's charts.
HeatMap map_of(const Grid& grid, const GridAxes& axes, const ProbeResult& result) {
  const bool has_cycles =
      std::all_of(grid.cells.begin(), grid.cells.end(),
                  [](const GridCell& cell) { return cell.value.cycles.has_value(); });
  HeatMap map{.x_name = axes.x, .y_name = axes.y};
  map.unit = has_cycles ? std::string_view("cycles") : unit_of(result);
  map.title = fmt::format("{}: {}", words(grid.series),
                          has_cycles ? "cycles per access" : value_title(result));
  for (const GridCell& cell : grid.cells) {
    map.cells.push_back({cell.value.x, cell.y, has_cycles ? *cell.value.cycles : cell.value.y});
  }
  return map;
}

}  // namespace

std::vector<Grid> grids_of(const ProbeResult& result, const DeviceInfo& device,
                           const GridAxes& axes) {
  const bool is_rate = result.unit != Unit::seconds;
  std::vector<Grid> grids;
  for (const std::string& series : series_of(result)) {
    Grid grid{.series = series};
    for (const Point& point : result.points) {
      const auto x = numeric(point, axes.x);
      const auto y = numeric(point, axes.y);
      if (point.series != series || !x || !y) continue;
      const std::optional<Estimate> time = estimate(point, device);
      if (!time || !(time->ns > 0.0)) continue;
      grid.cells.push_back({*y, chart_point(*x, *time, is_rate)});
    }
    if (!grid.cells.empty()) grids.push_back(std::move(grid));
  }
  return grids;
}

std::optional<GridAxes> heat_map_axes(const ProbeResult& result) {
  const bool is_declared = !result.view.x.empty() || result.view.kind == ViewKind::stacks;
  constexpr std::size_t min_of_any_probe = 4;  // with fewer, curves show more
  if (!is_declared) return grid_axes(result.points, min_of_any_probe);
  if (result.view.kind != ViewKind::heat_map) return std::nullopt;
  // Of a run that was narrowed to one place there is no map to draw.
  if (values_of(result.points, result.view.x).size() < 2) return std::nullopt;
  return GridAxes{result.view.x, result.view.y};
}

std::vector<HeatMap> heat_maps_of(const ProbeResult& result, const DeviceInfo& device) {
  std::vector<HeatMap> maps;
  const std::optional<GridAxes> axes = heat_map_axes(result);
  if (!axes) return maps;
  for (const Grid& grid : grids_of(result, device, *axes)) {
    HeatMap map = map_of(grid, *axes, result);
    const bool varies = std::any_of(map.cells.begin(), map.cells.end(), [&](const HeatCell& cell) {
      return cell.x != map.cells.front().x;
    });
    if (varies) maps.push_back(std::move(map));
  }
  return maps;
}

void draw_heat_map(Page& page, const HeatMap& map, Form form) {
  std::set<double> rows;
  std::set<double> all_x;
  int margin = 0;
  for (const HeatCell& cell : map.cells) {
    rows.insert(cell.y);
    all_x.insert(cell.x);
    const std::string label = place_text(map.y_name, cell.y);
    margin = std::max(margin, display_width(page.show(label)) + 2);
  }
  if (all_x.size() < 2) return;
  const Scale scale = scale_of(map, page.is_unicode());
  if (form != Form::brief) {
    page.blank();
    page.prose(" ",
               fmt::format("{}; columns: {}, rows: {}", map.title, parameter_title(map.x_name),
                           parameter_title(map.y_name)),
               Ink::plain);
  }
  for (const std::vector<double>& columns : pieces_of(all_x, page.width() - margin)) {
    draw_rows(page, map, scale, columns, {rows.begin(), rows.end()}, margin);
    if (form == Form::brief) continue;
    page.line({{page.show(axis_labels(map, columns, margin)), Ink::faint}});
  }
  draw_scale(page, map, scale, margin);
}

}  // namespace clprobe::report
