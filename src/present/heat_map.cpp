// SPDX-License-Identifier: Apache-2.0
#include "present/heat_map.hpp"

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

#include "analysis/api/estimate.hpp"
#include "present/curves.hpp"
#include "present/findings.hpp"
#include "present/safe_text.hpp"
#include "present/svg.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

std::set<double> values_of(const std::vector<Point>& points, std::string_view name) {
  std::set<double> values;
  for (const Point& point : points) {
    if (const auto value = numeric(point, name)) values.insert(*value);
  }
  return values;
}

/// Returns the two numeric parameters that form the fullest grid; nothing if no grid is suitable.
/// At least half of the grid's cells must be points, and each parameter must have at least
/// `min_values` values. The parameter with more values becomes x. The alphabetic order of names
/// decides ties.
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
// Number of shades. Unicode has one shade fewer, since its two darkest shades look alike without
// colour.
constexpr int unicode_levels = 5;
constexpr int ascii_levels = 6;

/// Scale of shades from the map's minimum `low` to its maximum `high`. A map that hardly varies has
/// only one shade.
struct ShadeScale {
  double low{0.0};
  double high{0.0};
  int levels{1};

  [[nodiscard]] int level_of(double value) const {
    if (levels < 2) return 0;
    const double share = std::log(value / low) / std::log(high / low);
    if (!(share > 0.0)) return 0;  // also true for NaN
    return static_cast<int>(std::min(share * levels, levels - 1.0));
  }
  /// Returns the smallest value that has the shade `level`.
  [[nodiscard]] double begin_of(int level) const {
    return low * std::pow(high / low, static_cast<double>(level) / levels);
  }
};

bool has_cycles(const Grid& grid) {
  return std::ranges::all_of(grid.cells,
                             [](const GridCell& cell) { return cell.value.cycles.has_value(); });
}

/// Values of a heat map on a terminal.
struct Map {
  std::map<std::pair<double, double>, double> values{};  ///< values by position (x, y)
  GridAxes axes{};
  std::string unit{};
};

Map map_of(const Grid& grid) {
  const bool is_in_cycles = has_cycles(grid);
  Map map{.axes = grid.axes, .unit = is_in_cycles ? "cycles" : grid.unit};
  for (const auto& [y, value] : grid.cells) {
    map.values[{value.x, y}] = is_in_cycles ? *value.cycles : value.y;
  }
  return map;
}

ShadeScale scale_of(const Map& map, bool is_unicode) {
  const auto [low, high] = std::ranges::minmax_element(
      map.values, [](const auto& a, const auto& b) { return a.second < b.second; });
  // Ratio of maximum to minimum above which a map has several shades. A smaller ratio is noise,
  // which shades would present as a pattern.
  constexpr double worth_showing = 1.1;
  // The scale takes logarithms, but a value from a file may be negative, zero or infinite.
  const bool is_sound = low->second > 0.0 && std::isfinite(high->second);
  const bool varies = is_sound && high->second > worth_showing * low->second;
  return {low->second, high->second, !varies ? 1 : is_unicode ? unicode_levels : ascii_levels};
}

std::string shade_of(int level, bool is_unicode) {
  const auto place = static_cast<std::size_t>(level);
  return is_unicode ? unicode_shades.at(place) : ascii_shades.at(place);
}

/// Returns the columns in groups of at most `room` columns. Columns are never omitted, since this
/// would hide differences between neighbours.
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

/// Returns the line of labels below the columns. A label that would overlap the previous label is
/// omitted. A map with at least 16 columns has labels only at multiples of 8.
std::string axis_labels(const Map& map, const std::vector<double>& columns, int margin) {
  std::string labels = pad_right("", margin);
  int free_from = margin;
  constexpr double round = 8.0;
  constexpr std::size_t few = 16;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_round = columns.size() < few || std::fmod(columns[i], round) == 0.0;
    const std::string text = coordinate_text(map.axes.x, columns[i]);
    const int first = margin + static_cast<int>(i);
    if (!is_round || first < free_from) continue;
    labels = pad_right(labels, first);
    labels += text;
    free_from = first + display_width(text) + 1;
  }
  return labels;
}

void draw_rows(Page& page, const Map& map, const ShadeScale& scale,
               const std::vector<double>& columns, const std::vector<double>& rows, int margin) {
  for (const double y : rows) {
    const std::string label = page.show(coordinate_text(map.axes.y, y));
    std::vector<Span> spans{{pad_left(label, margin - 1) + " ", Ink::faint}};
    for (const double x : columns) {
      const auto value = map.values.find({x, y});
      if (value == map.values.end()) {
        spans.push_back({" "});
        continue;
      }
      const int level = scale.level_of(value->second);
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

void draw_scale(Page& page, const Map& map, const ShadeScale& scale, int margin) {
  std::vector<std::vector<Span>> items;
  for (int level = 0; level < scale.levels; ++level) {
    const std::string text = page.show(quantity_text(scale.begin_of(level), map.unit));
    items.push_back(
        {{shade_of(level, page.is_unicode()), Ink::heat, level}, {" " + text, Ink::faint}});
  }
  items.push_back({{page.show("to " + quantity_text(scale.high, map.unit)), Ink::faint}});
  page.flow(items, margin);
}

}  // namespace

std::optional<GridAxes> heat_map_axes(const ProbeResult& result) {
  const bool is_declared = !result.view.x.empty() || result.view.kind == ViewKind::stacks;
  constexpr std::size_t min_of_any_probe = 4;  // fewer values are better shown as curves
  if (!is_declared) return grid_axes(result.points, min_of_any_probe);
  if (result.view.kind != ViewKind::heat_map) return std::nullopt;
  // A run whose points have only one x has no map.
  if (values_of(result.points, result.view.x).size() < 2) return std::nullopt;
  return GridAxes{result.view.x, result.view.y};
}

std::vector<Grid> grids_of(const ProbeResult& result, const DeviceInfo& device) {
  const std::optional<GridAxes> axes = heat_map_axes(result);
  if (!axes) return {};
  const bool is_rate = result.unit != Unit::seconds;
  std::vector<Grid> grids;
  for (const std::string& series : series_of(result)) {
    Grid grid{.series = series,
              .axes = *axes,
              .unit = std::string(unit_of(result)),
              .value_title = value_title(result)};
    for (const Point& point : result.points) {
      const auto x = numeric(point, axes->x);
      const auto y = numeric(point, axes->y);
      if (point.series != series || !point.failure.empty() || !x || !y) continue;
      const std::optional<Estimate> time = estimate(point, device);
      if (!time || !(time->ns > 0.0)) continue;
      grid.cells.push_back({*y, chart_point(*x, *time, is_rate)});
    }
    if (!grid.cells.empty()) grids.push_back(std::move(grid));
  }
  return grids;
}

bool is_map(const Grid& grid) {
  return std::ranges::any_of(
      grid.cells, [&](const GridCell& cell) { return cell.value.x != grid.cells.front().value.x; });
}

std::string map_title(const Grid& grid) {
  return fmt::format("{}: {}", words(grid.series),
                     has_cycles(grid) ? "cycles per access" : grid.value_title);
}

void draw_heat_map(Page& page, const Grid& grid, Form form) {
  if (!is_map(grid)) return;
  const Map map = map_of(grid);
  std::set<double> rows;
  std::set<double> all_x;
  int margin = 0;
  for (const auto& [place, value] : map.values) {
    all_x.insert(place.first);
    rows.insert(place.second);
    const std::string label = coordinate_text(map.axes.y, place.second);
    margin = std::max(margin, display_width(page.show(label)) + 2);
  }
  const ShadeScale scale = scale_of(map, page.is_unicode());
  if (form != Form::brief) {
    page.blank();
    page.prose(" ",
               fmt::format("{}; columns: {}, rows: {}", map_title(grid),
                           parameter_title(map.axes.x), parameter_title(map.axes.y)),
               Ink::plain);
  }
  for (const std::vector<double>& columns : pieces_of(all_x, page.width() - margin)) {
    draw_rows(page, map, scale, columns, {rows.begin(), rows.end()}, margin);
    if (form == Form::brief) continue;
    page.line({{page.show(axis_labels(map, columns, margin)), Ink::faint}});
  }
  draw_scale(page, map, scale, margin);
}

namespace {

// Colours of the Viridis scale, from dark to light, which differ in brightness and so also in black
// and white.
constexpr std::array<std::array<double, 3>, 5> scale{
    {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};

std::string colour_at(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(scale.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), scale.size() - 2);
  const auto mixed = [&](std::size_t channel) {
    const double from = scale.at(i).at(channel);
    const double to = scale.at(i + 1).at(channel);
    return static_cast<int>(std::lround(from + (to - from) * (at - static_cast<double>(i))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
}

/// Returns the text of the scale's minimum or maximum: "11.8 ns", or "11.8 ns (23.3 cycles)" if the
/// clock counts cycles.
std::string end_text(const ChartPoint& end, std::string_view unit) {
  std::string text = quantity_text(end.y, unit);
  if (!end.cycles) return text;
  return fmt::format("{} ({} cycles)", text, quantity_text(*end.cycles, "cycles"));
}

class CellPicture {
 public:
  CellPicture(const Grid& grid, std::span<const Grid> on_scale)
      : grid_(grid), axes_(grid.axes), unit_(grid.unit) {
    std::set<double> xs;
    std::set<double> ys;
    for (const GridCell& cell : grid.cells) {
      xs.insert(cell.value.x);
      ys.insert(cell.y);
    }
    xs_.assign(xs.begin(), xs.end());
    ys_.assign(ys.begin(), ys.end());
    for (const Grid& each : on_scale) {
      for (const auto& [y, value] : each.cells) {
        if (low_.y == 0.0 || value.y < low_.y) low_ = value;
        if (value.y > high_.y) high_ = value;
      }
    }
  }

  [[nodiscard]] std::string draw(const PictureText& text) const {
    constexpr double below = 104;
    std::string svg = picture_head(text, picture::bottom + below);
    for (const GridCell& cell : grid_.cells) svg += draw_cell(cell, text.has_values);
    return svg + draw_axes() + draw_scale() + "</svg>\n";
  }

 private:
  static std::size_t place(const std::vector<double>& values, double value) {
    return static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), value) -
                                    values.begin());
  }
  [[nodiscard]] double cell_width() const {
    return picture::plot_width / static_cast<double>(xs_.size());
  }
  [[nodiscard]] double cell_height() const {
    return picture::plot_height / static_cast<double>(ys_.size());
  }
  [[nodiscard]] double left_of(std::size_t column) const {
    return std::round(picture::left + cell_width() * static_cast<double>(column));
  }
  [[nodiscard]] double bottom_of(std::size_t row) const {
    return std::round(picture::bottom - cell_height() * static_cast<double>(row));
  }

  [[nodiscard]] std::string draw_cell(const GridCell& cell, bool has_value) const {
    const std::size_t column = place(xs_, cell.value.x);
    const std::size_t row = place(ys_, cell.y);
    const double share =
        high_.y > low_.y ? std::log(cell.value.y / low_.y) / std::log(high_.y / low_.y) : 0.5;
    const std::string box =
        fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}")", left_of(column),
                    bottom_of(row + 1), left_of(column + 1) - left_of(column),
                    bottom_of(row) - bottom_of(row + 1), colour_at(share));
    if (!has_value) return box + "/>\n";
    return fmt::format(
        "{}><title>{} {}, {} {}: {}</title></rect>\n", box, html_text(parameter_title(axes_.x)),
        html_text(coordinate_text(axes_.x, cell.value.x)), html_text(parameter_title(axes_.y)),
        html_text(coordinate_text(axes_.y, cell.y)), html_text(value_text(cell.value, unit_)));
  }

  // Returns the axis titles, and as many evenly spaced labels of columns and rows as fit.
  [[nodiscard]] std::string draw_axes() const {
    constexpr double min_gap_across = 46;
    constexpr double min_gap_down = 20;
    const auto step_of = [](double gap, double least) {
      return static_cast<std::size_t>(std::max(1.0, std::ceil(least / gap)));
    };
    std::string svg;
    for (std::size_t i = 0; i < xs_.size(); i += step_of(cell_width(), min_gap_across)) {
      svg += fmt::format(
          "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\" fill=\"#50565e\">{}</text>\n",
          left_of(i) + cell_width() / 2, picture::bottom + 19,
          html_text(coordinate_text(axes_.x, xs_[i])));
    }
    for (std::size_t i = 0; i < ys_.size(); i += step_of(cell_height(), min_gap_down)) {
      svg += fmt::format(
          "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#50565e\">{}</text>\n",
          picture::left - 8, bottom_of(i) - cell_height() / 2 + 4.5,
          html_text(coordinate_text(axes_.y, ys_[i])));
    }
    svg +=
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#1a1d21\">{}</text>\n",
                    picture::left + picture::plot_width / 2, picture::bottom + 42,
                    html_text(parameter_title(axes_.x)));
    return svg + fmt::format(
                     "<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\" "
                     "fill=\"#1a1d21\">{}</text>\n",
                     picture::top + picture::plot_height / 2, html_text(parameter_title(axes_.y)));
  }

  [[nodiscard]] std::string draw_scale() const {
    constexpr int steps = 40;
    constexpr double step_width = 5;
    const double text_room = low_.cycles ? 160 : 70;
    const double y = picture::bottom + 70;
    std::string svg =
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#1a1d21\">{}</text>\n",
                    picture::left + text_room - 8, y + 11, html_text(end_text(low_, unit_)));
    for (int i = 0; i < steps; ++i) {
      svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" fill=\"{}\"/>\n",
                         picture::left + text_room + step_width * i, y, step_width,
                         colour_at(static_cast<double>(i) / (steps - 1)));
    }
    return svg + fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#1a1d21\">{}</text>\n",
                             picture::left + text_room + step_width * steps + 8, y + 11,
                             html_text(end_text(high_, unit_)));
  }

  const Grid& grid_;
  const GridAxes& axes_;
  std::vector<double> xs_{};
  std::vector<double> ys_{};
  std::string_view unit_;
  ChartPoint low_{};  ///< minimum of the scale
  ChartPoint high_{};
};

}  // namespace

std::string draw_heat_map(const Grid& grid, std::span<const Grid> on_scale,
                          const PictureText& text) {
  return CellPicture(grid, on_scale).draw(text);
}

}  // namespace clprobe::report
