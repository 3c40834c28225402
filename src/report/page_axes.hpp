// SPDX-License-Identifier: Apache-2.0
// Axes of a page's charts: their ticks with the texts, so that scripts format no numbers.
#pragma once

#include <algorithm>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe::report {

/// From the least to the largest of the values that were added.
struct Range {
  double low{std::numeric_limits<double>::infinity()};
  double high{0.0};

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// To four significant digits, of which a chart shows three.
nlohmann::ordered_json rounded(double value);
/// A whole number as one.
nlohmann::ordered_json exact(double value);
/// A parameter's value as reports write it: "64 KiB" of 65536 "working_set_bytes".
std::string place_text(std::string_view name, double value);

/// An axis is {"title", "ticks": [[value, text], ...], "steps": [...]}. There are more ticks than
/// fit: a script shows every n-th of the list, with the first n of the steps for which there is
/// room. Of a logarithmic axis of sizes they are powers of two, else 1, 2 and 5 of each power of
/// ten; of a linear one, which has "type": "linear", they are even.
nlohmann::ordered_json parameter_axis(std::string_view name, const Range& range,
                                      Scale scale = Scale::logarithmic);
/// Of the values, which are drawn in multiples of `scale`. It reaches further than the values, as
/// scripts leave room for texts.
nlohmann::ordered_json value_axis(std::string_view title, std::string_view unit, const Range& range,
                                  double scale, Scale type = Scale::logarithmic);
/// Of shares on a linear axis, every tenth.
nlohmann::ordered_json share_axis(double low, double high);

}  // namespace clprobe::report
