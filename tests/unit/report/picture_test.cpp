// SPDX-License-Identifier: Apache-2.0
// Pictures in colour and without: one palette, and no two curves alike in grey.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "present/chart.hpp"
#include "present/stacks.hpp"
#include "present/svg.hpp"
#include "text/api/embedded.hpp"

namespace clprobe::report {
namespace {

std::string picture_of_curves(int count) {
  Chart chart{.x_name = "work_items", .y_unit = "seconds"};
  for (int i = 0; i < count; ++i) {
    chart.series.push_back({fmt::format("series {}", i), {{1.0, 1e-9}, {2.0, 2e-9}}});
  }
  return draw_picture(chart, {});
}

/// The line and the mark of each series in the legend, without their colours and places.
std::vector<std::string> looks_of(const std::string& svg) {
  std::vector<std::string> looks;
  for (std::size_t at = svg.find("h28\""); at != std::string::npos;
       at = svg.find("h28\"", at + 1)) {
    const std::size_t end = svg.find("/>", at);
    const std::string line = svg.substr(at, end - at);
    const std::size_t dash = line.find("stroke-dasharray");
    const std::size_t mark = svg.find("<path d=\"M", end);
    const std::size_t shape = svg.find('m', mark);
    looks.push_back((dash == std::string::npos ? "" : line.substr(dash)) + " " +
                    svg.substr(shape, svg.find('"', shape) - shape));
  }
  return looks;
}

/// The colours of curves in a style sheet's first block.
std::vector<std::string> palette(int count) {
  const std::string_view css = embedded_file("report.css");
  std::vector<std::string> colours;
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("--c{}: ", i);
    const std::size_t at = css.find(name);
    REQUIRE(at != std::string_view::npos);
    colours.emplace_back(css.substr(at + name.size(), 7));
  }
  return colours;
}

double luminance(const std::string& colour) {
  double sum = 0.0;
  std::size_t at = 1;
  for (const double weight : {0.2126, 0.7152, 0.0722}) {
    const double c = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    sum += weight * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    at += 2;
  }
  return sum;
}

Stack stack_of(std::vector<StackPart> parts) {
  Stack stack{.bar = "bar", .view = "shapley", .parts = std::move(parts)};
  stack.is_whole = true;
  return stack;
}

}  // namespace

TEST_CASE("no two curves of a picture look alike in grey") {
  const std::vector<std::string> looks = looks_of(picture_of_curves(56));
  REQUIRE(looks.size() == 56);
  CHECK(std::set<std::string>(looks.begin(), looks.end()).size() == 56);
}

TEST_CASE("a page and its pictures have the same colours") {
  const std::string curves = picture_of_curves(8);
  for (const std::string& colour : palette(8)) {
    CHECK_MESSAGE(curves.find(colour) != std::string::npos, colour);
  }
  std::vector<StackPart> parts;
  for (int i = 0; i < 9; ++i) parts.push_back({.label = fmt::format("cause {}", i), .share = 0.1});
  const std::vector<Stack> stacks{stack_of(parts)};
  const std::string bars = draw_stacks(stacks, PictureText{});
  std::vector<std::string> fills;
  for (std::size_t at = bars.find("<title>cause "); at != std::string::npos;
       at = bars.find("<title>cause ", at + 1)) {
    fills.push_back(bars.substr(bars.rfind("fill=\"#", at) + 6, 7));
  }
  REQUIRE(fills.size() == 9);
  // Neighbours differ without their colours, too.
  for (std::size_t i = 1; i < fills.size(); ++i) {
    const double one = luminance(fills[i - 1]) + 0.05;
    const double other = luminance(fills[i]) + 0.05;
    CHECK_MESSAGE(std::max(one, other) / std::min(one, other) > 1.8, i);
  }
}

TEST_CASE("what costs time to take away lies left of 0, to scale") {
  const std::vector<Stack> stacks{stack_of({{.label = "a", .share = 0.75},
                                            {.label = "b", .share = -0.25},
                                            {.label = "c", .share = 0.5}})};
  const std::string svg = draw_stacks(stacks, PictureText{});
  // From -25 % to 125 % in 536 pixels: 0 is at 300 + 536 / 6.
  CHECK(svg.find("x=\"389.3\" y=\"74.0\" width=\"268.0\"") != std::string::npos);
  CHECK(svg.find("x=\"300.0\" y=\"74.0\" width=\"89.3\"") != std::string::npos);
  CHECK(svg.find("x=\"657.3\" y=\"74.0\" width=\"178.7\"") != std::string::npos);
  for (const char* const tick : {"-25 %", "0 %", "100 %", "125 %"}) {
    CHECK_MESSAGE(svg.find(fmt::format(">{}</text>", tick)) != std::string::npos, tick);
  }
}

}  // namespace clprobe::report
