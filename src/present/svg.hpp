// SPDX-License-Identifier: Apache-2.0
// A chart as a picture, for papers, READMEs and pages without scripts.
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

/// The texts of a picture besides those of the chart.
struct PictureText {
  std::string title{};
  std::string subtitle{};
  std::string description{};  ///< for readers who cannot see it
  bool has_values{false};     ///< the pointer over a point shows its value
};

/// An <svg> element, light, with text as text, and with nothing that depends on the machine. It can
/// stand alone or in a page: it has no ids, scripts or styles.
std::string draw_picture(const Chart& chart, const PictureText& text);

/// A grid as a picture: a colour for each value, by its logarithm. The scale covers the values of
/// all grids `on_scale`.
std::string draw_heat_map(const Grid& grid, std::span<const Grid> on_scale,
                          const PictureText& text);

/// Stacks as a picture: a bar each, in colours by category, with a legend.
std::string draw_stacks(std::span<const Stack> all, const PictureText& text);

struct Figure {
  std::string title{};  ///< distinguishing title; empty for the first of its probe
  std::string svg{};
  bool is_folded{false};  ///< shown only on request
};

/// All figures of a probe in these runs, with values under the pointer, at least one. Stacks: each
/// view of each run, and each cause that has parts. Heat maps: each series of each run, with one
/// scale per series. Curves: a few of one run at a time; of several runs each series on all
/// devices. The plots of the probe's card follow.
std::vector<Figure> figures_of(std::span<const Run> runs, std::string_view probe);

/// "16.2 ns (16.1 ns to 16.4 ns), 32.0 cycles": what a point shows under the pointer.
std::string value_text(const ChartPoint& point, std::string_view unit);

/// The beginning of every picture, up to its titles.
std::string picture_head(const PictureText& text, double height);

/// Sizes of every picture, in pixels.
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
