// SPDX-License-Identifier: Apache-2.0
#include "report/page_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "clprobe/run.hpp"
#include "report/chart.hpp"
#include "report/findings.hpp"
#include "text/text.hpp"

namespace clprobe::report {
namespace {

using Json = nlohmann::ordered_json;

Json axis(std::string_view title, Json ticks, Json steps) {
  return {{"title", printable(title)}, {"ticks", std::move(ticks)}, {"steps", std::move(steps)}};
}

/// 1, 2 and 5 of each power of ten that `range` touches. Every third is a power of ten.
template <typename Text>
Json decades(const Range& range, double scale, Text text) {
  Json ticks = Json::array();
  if (!(range.low > 0.0) || !(range.high >= range.low)) return ticks;
  const auto first = static_cast<int>(std::floor(std::log10(range.low)));
  const auto last = static_cast<int>(std::ceil(std::log10(range.high)));
  for (int power = first; power <= last; ++power) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10.0, power);
      ticks.push_back(Json::array({rounded(value / scale), text(value)}));
    }
  }
  return ticks;
}

/// Even ones, so many that some are left when a part of the axis is shown.
template <typename Text>
Json linear_axis(std::string_view title, double low, double high, double scale, Text text) {
  constexpr double about = 100.0;
  Json ticks = Json::array();
  for (const double value : even_ticks(low, high, (high - low) / about)) {
    ticks.push_back(Json::array({rounded(value / scale), text(value)}));
  }
  Json made = axis(title, std::move(ticks), Json::array({1, 2, 5, 10, 20, 50, 100}));
  made["type"] = "linear";
  return made;
}

/// All of them, or the powers of ten alone.
Json decade_steps() { return Json::array({1, 3}); }

}  // namespace

Json rounded(double value) {
  const std::string text = fmt::format("{:.4g}", value);
  double shown = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), shown);
  return exact(shown);
}

Json exact(double value) {
  constexpr double largest = 9e15;
  if (value == std::floor(value) && std::fabs(value) < largest) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

std::string place_text(std::string_view name, double value) {
  const Json shown = exact(value);
  return parameter_text(
      name, shown.is_number_integer() ? Value{shown.get<std::int64_t>()} : Value{value});
}

Json parameter_axis(std::string_view name, const Range& range, Scale scale) {
  const std::string title = parameter_title(name);
  const auto text = [&](double value) { return place_text(name, value); };
  if (scale == Scale::linear) return linear_axis(title, range.low, range.high, 1.0, text);
  if (parameter_unit(name) != "bytes") {
    return axis(title, decades(range, 1.0, text), decade_steps());
  }
  Json ticks = Json::array();
  for (int power = 0; power < 63 && std::ldexp(1.0, power) <= range.high; ++power) {
    const double size = std::ldexp(1.0, power);
    ticks.push_back(Json::array({exact(size), text(size)}));
  }
  return axis(title, std::move(ticks), Json::array({1, 2, 5, 10, 20}));
}

Json value_axis(std::string_view title, std::string_view unit, const Range& range, double scale,
                Scale type) {
  constexpr double room = 10.0;
  const auto text = [&](double value) { return tick_text(value, unit); };
  if (type == Scale::linear) {
    const double aside = std::max(range.high - range.low, range.high / room);
    return linear_axis(title, range.low - aside, range.high + aside, scale, text);
  }
  return axis(title, decades({range.low / room, range.high * room}, scale, text), decade_steps());
}

Json share_axis(double low, double high) {
  Json ticks = Json::array();
  // Shares beyond ten times the whole are drawn to the end of the axis.
  constexpr double most = 10.0;
  const auto first = static_cast<int>(std::floor(std::clamp(low, -most, most) * 10.0));
  const auto last = static_cast<int>(std::ceil(std::clamp(high, -most, most) * 10.0));
  for (int tenth = first; tenth <= last; ++tenth) {
    ticks.push_back(Json::array({tenth / 10.0, fmt::format("{} %", 10 * tenth)}));
  }
  return axis("", std::move(ticks), Json::array({1, 2, 5, 10, 20, 50, 100}));
}

}  // namespace clprobe::report
