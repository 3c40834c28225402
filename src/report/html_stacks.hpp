// SPDX-License-Identifier: Apache-2.0
// Stacks in an HTML page: the tables, and what its script draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe::report {

/// A table of shares for each view; empty without stacks.
std::string stacks_html(std::span<const Finding> findings, std::string_view title);

/// For drawStacks in html/stacks.js: {"probe", "view": "stack", "labels", "categories", "views",
/// "parts", "kernels", "stacks", "x"}. Labels are the parts, in the order in which they are
/// stacked, with the number of its category for each; a stack is {"device", "series", "view",
/// "time", "points"} and, where it is known, "duration", in one unit for all bars; a point
/// {"label", "share", "text"}, with "lowText" and "highText" where there is an interval. Of a view
/// of parts of kernels "parts" has its word, else "", and a stack has "part" and the number of its
/// "kernel". Null where no run of the probe has a stack.
nlohmann::ordered_json stacks_chart(std::span<const Run> runs, std::string_view probe);

}  // namespace clprobe::report
