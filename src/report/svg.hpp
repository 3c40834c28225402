// SPDX-License-Identifier: Apache-2.0
// A chart as a picture, for papers, READMEs and pages without scripts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"
#include "report/chart.hpp"
#include "report/grids.hpp"
#include "report/stacks.hpp"

namespace clprobe::report {

/// What a picture says besides the chart.
struct PictureText {
  std::string title{};
  std::string subtitle{};
  std::string description{};  ///< for whoever cannot see it
};

/// An <svg> element, light, with text as text, and with nothing that depends on the machine. It can
/// stand alone or in a page: it has no ids, scripts or styles.
std::string draw_picture(const Chart& chart, const PictureText& text);

/// The same of a grid: a colour for each value, by its logarithm.
std::string draw_heat_map(const Grid& grid, const GridAxes& axes, std::string_view unit,
                          const PictureText& text);

/// The same of stacks: a bar each, in colours by category, with what they stand for.
std::string draw_stacks(std::span<const Stack> stacks, const PictureText& text);

/// The picture of a probe in these runs, with its texts. Of stacks it shows the first run's. Of
/// curves on several devices it shows the first run's first series on each that has it; of heat
/// maps the first one.
std::string picture_of(std::span<const Run> runs, std::string_view probe);

/// The beginning of every picture, up to its titles.
std::string picture_head(const PictureText& text, double height);

/// In pixels, of every picture.
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
