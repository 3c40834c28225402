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

/// Texts of a picture.
struct PictureText {
  std::string title{};
  std::string subtitle{};
  std::string description{};  ///< description for readers who cannot see the picture
  bool has_values{false};     ///< true: the pointer over a point shows its value
};

/// Returns a light <svg> element with text as text, independent of the machine. It contains no ids,
/// scripts or styles, so it works both alone and in a page.
std::string draw_picture(const Chart& chart, const PictureText& text);

/// Returns a grid as a picture: a colour per value, by its logarithm. The scale covers all grids
/// `on_scale`.
std::string draw_heat_map(const Grid& grid, std::span<const Grid> on_scale,
                          const PictureText& text);

/// Returns stacks as a picture: a bar each, coloured by category, with a legend.
std::string draw_stacks(std::span<const Stack> all, const PictureText& text);

struct Figure {
  std::string title{};  ///< title among figures of a probe; empty for the first
  std::string svg{};
  bool is_folded{false};  ///< true if the figure is shown only on request
};

/// Returns all figures of a probe in these runs, at least one, with values under the pointer.
/// Stacks: each view of each run, and each divided category. Heat maps: each series of each run,
/// with one scale per series. Curves: a few of a run per figure; of several runs, each series on
/// all devices. The plots of the probe's card follow.
std::vector<Figure> figures_of(std::span<const Run> runs, std::string_view probe);

/// Returns the text of a point under the pointer: "16.2 ns (16.1 ns to 16.4 ns), 32.0 cycles".
std::string value_text(const ChartPoint& point, std::string_view unit);

/// Returns the beginning of a picture, up to its titles.
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
