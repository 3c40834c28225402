// SPDX-License-Identifier: Apache-2.0
// Stacks: the shares of a kernel's time by cause, as findings. Each bar is one series.
//
// Each share of a bar is a finding "stall". The label is a category of GSI (GPU Stall Inspector)
// and a sub-class after a colon ("memory data: L2"). The value is the share of the bar's time, from
// 0 to 1, with an interval. The method is the name of the view. The time of the whole bar is a
// finding "time" in cycles or seconds.
//
// The shares of a bar add up to 1 within a view. A share of 0 is omitted, and an unknown share is a
// finding without a value. Shares of two runs match if their series, methods and labels are equal.
//
// Labels also distinguish other findings of a bar. "interaction" is the effect of removing two
// causes together. "absorbed" is the noise that the kernel absorbs. "first_cause" is the largest
// cause as a share of all savings. This file defines all such names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe {

inline constexpr std::string_view stack_part_name = "stall";
inline constexpr std::string_view stack_time_name = "time";

/// Name of the finding for a bar's time relative to another bar, which the method names. Charts
/// draw the bar at this length.
inline constexpr std::string_view stack_relative_name = "relative_time";

/// Views in display order. `gsi`: one cause per cycle. `all-causes`: each cycle divided among all
/// causes that block. `shapley`: savings by removed causes. `clock`: times from clocks in the
/// kernel.
inline constexpr std::string_view stack_view_gsi = "gsi";
inline constexpr std::string_view stack_view_all_causes = "all-causes";
inline constexpr std::string_view stack_view_shapley = "shapley";
inline constexpr std::string_view stack_view_clock = "clock";

inline constexpr std::string_view stack_interaction_name = "interaction";
inline constexpr std::string_view stack_absorbed_name = "absorbed";
inline constexpr std::string_view stack_first_name = "first_cause";

/// Names of the smallest, median and largest share among simulated compute units, for a bar that is
/// the mean of several units.
inline constexpr std::string_view stack_unit_least_name = "least_unit";
inline constexpr std::string_view stack_unit_median_name = "median_unit";
inline constexpr std::string_view stack_unit_most_name = "most_unit";

/// Names of the ratio of two bars: as measured in this run, and as published in the thesis of GSI's
/// author.
inline constexpr std::string_view stack_ratio_name = "here";
inline constexpr std::string_view stack_thesis_name = "thesis";

/// Name of the share of a program's device time. The share describes the finding's series, and all
/// series that begin with this series and a comma ("triad" also describes "triad, folded").
inline constexpr std::string_view stack_app_share_name = "app_share";

/// Label of the remainder of a bar, which no cause explains.
inline constexpr std::string_view stack_remainder = "unattributed";

/// First words of the reason of a share whose interval includes 0. Reports and comparisons list all
/// such shares of a bar in one line.
inline constexpr std::string_view stack_not_resolved = "not resolved";

struct StackPart {
  std::string label{};  ///< category and sub-class of the cause: "memory data: L2"
  double share{0.0};    ///< share of the bar's time; negative if removing the cause costs time
  std::optional<double> low{};
  std::optional<double> high{};
  std::string reason{};    ///< warning about the share; may be empty
  bool is_resolved{true};  ///< false if the share may be 0 (`is_unresolved_share`)
};

/// One bar in one view.
struct Stack {
  std::string bar{};   ///< the series of the findings
  std::string view{};  ///< the method of the findings
  std::vector<StackPart> parts{};
  bool is_whole{true};  ///< true if all shares are known; otherwise charts omit the stack
  std::optional<double> time{};
  std::string time_unit{};           ///< "cycles" or "seconds"
  std::optional<double> relative{};  ///< length of the bar in a chart; absent: 1
  /// Name of the bar that has length 1; empty without such a bar.
  std::string baseline{};
  std::optional<double> app_share{};
};

/// Returns true for a share of a stack that has a value and a label.
bool is_stack_part(const Finding& finding);

/// Returns true for any share of a bar ("stall", "interaction", "absorbed", ...), with or without a
/// value.
bool is_share_of_bar(const Finding& finding);

/// Returns true if `finding` has a value, and its method and label distinguish it from other
/// findings of its series and name. This holds for shares of bars.
bool is_told_by_label(const Finding& finding);

/// Returns true for a share that may be 0: a "stall" other than the remainder, whose interval has a
/// width and includes 0, or any share whose reason begins with `stack_not_resolved`.
bool is_unresolved_share(const Finding& finding);

/// Returns "not resolved: control, memory data: L2 (each within 4.0 % of 0)" for unresolved shares;
/// empty if `findings` is empty.
std::string describe_unresolved(std::span<const Finding* const> findings);

/// Returns the stacks sorted by view, in the order of the constants `stack_view_`. Stacks of one
/// view keep the order of the findings.
std::vector<Stack> stacks_in(std::span<const Finding> findings);

/// Returns the shares called `name` as one stack per bar and view, without times.
std::vector<Stack> shares_called(std::string_view name, std::span<const Finding> findings);

/// Returns the label up to the colon: "memory data".
std::string_view stack_category(std::string_view label);

/// Returns the distinct labels of all stacks. Categories follow GSI's order, from no stall to idle;
/// unknown categories are last. Within a category, labels keep the order of the stacks.
std::vector<std::string> stack_labels(std::span<const Stack> stacks);

}  // namespace clprobe
