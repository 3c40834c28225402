// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "present/findings.hpp"
#include "present/safe_text.hpp"
#include "present/svg.hpp"
#include "text/api/text.hpp"

namespace clprobe::report {
namespace {

// Viridis, from dark to light, which also reads without colour.
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

/// "11.8 ns (23.3 cycles)": tables have cycles, where the clock counts them.
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
        html_text(place_text(axes_.x, cell.value.x)), html_text(parameter_title(axes_.y)),
        html_text(place_text(axes_.y, cell.y)), html_text(value_text(cell.value, unit_)));
  }

  // Labels as many evenly spaced columns and rows as fit.
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
          html_text(place_text(axes_.x, xs_[i])));
    }
    for (std::size_t i = 0; i < ys_.size(); i += step_of(cell_height(), min_gap_down)) {
      svg += fmt::format(
          "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#50565e\">{}</text>\n",
          picture::left - 8, bottom_of(i) - cell_height() / 2 + 4.5,
          html_text(place_text(axes_.y, ys_[i])));
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
  ChartPoint low_{};  ///< the ends of the scale
  ChartPoint high_{};
};

}  // namespace

std::string draw_heat_map(const Grid& grid, std::span<const Grid> on_scale,
                          const PictureText& text) {
  return CellPicture(grid, on_scale).draw(text);
}

}  // namespace clprobe::report
