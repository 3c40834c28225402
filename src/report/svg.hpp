// SPDX-License-Identifier: Apache-2.0
// A chart as a picture, for papers, READMEs and pages without scripts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"
#include "report/chart.hpp"

namespace clprobe::report {

/// What a picture says besides the chart.
struct PictureText {
  std::string title{};
  std::string subtitle{};
  std::string description{};  ///< for whoever cannot see it
};

/// Of one run: its chart. Of several: the first run's first series on each device that has it.
Chart shared_chart(std::span<const Run> runs, std::string_view probe);

/// An <svg> element, light, with text as text, and with nothing that depends on the machine. It can
/// stand alone or in a page: it has no ids, scripts or styles.
std::string draw_picture(const Chart& chart, const PictureText& text);

/// The picture of a probe in these runs, with its texts.
std::string picture_of(std::span<const Run> runs, std::string_view probe);

}  // namespace clprobe::report
