// SPDX-License-Identifier: Apache-2.0
// Charts as SVG pictures, for papers, READMEs and pages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "present/chart.hpp"
#include "present/heat_map.hpp"
#include "present/stacks.hpp"

namespace clprobe::report {

/// Texts of a picture, and whether it also shows values.
struct PictureText {
  std::string title{};
  std::string subtitle{};
  std::string description{};  ///< description for readers who cannot see the picture
  bool has_values{false};     ///< true: tooltips show values
};

/// Returns a chart as an <svg> element in light colours. Text stays text, and the result is
/// independent of the machine. The element has no ids, scripts or styles, so it can be a file or a
/// part of an HTML page.
std::string draw_picture(const Chart& chart, const PictureText& text);

/// Returns a grid as an <svg> element. A cell's colour shows the logarithm of its value. The colour
/// scale covers all grids in `on_scale`.
std::string draw_heat_map(const Grid& grid, std::span<const Grid> on_scale,
                          const PictureText& text);

/// Returns stacks as an <svg> element: a bar per stack, coloured by category, and a legend.
std::string draw_stacks(std::span<const Stack> all, const PictureText& text);

struct Figure {
  std::string title{};  ///< title among the probe's figures; may be empty
  std::string svg{};
  bool is_folded{false};  ///< true: the figure is shown only on request
};

/// Returns all figures of a probe in these runs, at least one, with values in tooltips. Stacks have
/// a figure per run and view, then one per category with several labels. Heat maps have a figure
/// per run and series; all runs share a series' colour scale. Curves of one run share figures;
/// curves of several runs have a figure per series, with a curve per run. The plots of the
/// description that the probe's card adds come last.
std::vector<Figure> figures_of(std::span<const Run> runs, std::string_view probe);

/// Returns the value in a point's tooltip: "16.2 ns (16.1 ns to 16.4 ns), 32.0 cycles".
std::string value_text(const ChartPoint& point, std::string_view unit);

/// Returns the beginning of an <svg> element, including the titles.
std::string picture_head(const PictureText& text, double height);

/// Sizes of pictures, in pixels.
namespace picture {
inline constexpr double width = 860;
inline constexpr double left = 76;
inline constexpr double right = 24;
inline constexpr double top = 74;
inline constexpr double plot_height = 340;
inline constexpr double plot_width = width - left - right;
inline constexpr double bottom = top + plot_height;
}  // namespace picture

}  // namespace clprobe::report
