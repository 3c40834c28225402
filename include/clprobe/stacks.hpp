// SPDX-License-Identifier: Apache-2.0
// Stacks: the parts of a kernel's time, as findings. A bar is a series.
//
// Each part of a bar is a finding "stall". Its label is GSI's category with the sub-class after a
// colon ("memory data: L2"). Its value is its share of the bar's time, 0 to 1, with an interval.
// Its method is the view. The whole bar is a finding "time" in cycles or seconds.
//
// The parts of a bar add up to 1 within a view. Parts of 0 are omitted, and an unknown part is a
// finding without a value. Parts of two runs match if their series, methods and labels are equal.
//
// Labels also distinguish other shares of a bar: the effect of removing two causes together
// ("interaction"), the noise that the kernel absorbs ("absorbed"), and the largest cause as a share
// of all savings ("first_cause"). All words of bars are defined in this file.
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

/// The bar's time as a multiple of the time of a chosen bar, which the method names. Such bars are
/// drawn at this length.
inline constexpr std::string_view stack_relative_name = "relative_time";

/// The views in display order. `gsi`: one cause per cycle. `all-causes`: each cycle divided among
/// all causes that block. `shapley`: the savings of removed causes. `clock`: times from clocks in
/// the kernel.
inline constexpr std::string_view stack_view_gsi = "gsi";
inline constexpr std::string_view stack_view_all_causes = "all-causes";
inline constexpr std::string_view stack_view_shapley = "shapley";
inline constexpr std::string_view stack_view_clock = "clock";

inline constexpr std::string_view stack_interaction_name = "interaction";
inline constexpr std::string_view stack_absorbed_name = "absorbed";
inline constexpr std::string_view stack_first_name = "first_cause";

/// Shares of the time of one compute unit, for a bar that is the mean of several simulated units:
/// the smallest share, the median and the largest.
inline constexpr std::string_view stack_unit_least_name = "least_unit";
inline constexpr std::string_view stack_unit_median_name = "median_unit";
inline constexpr std::string_view stack_unit_most_name = "most_unit";

/// The ratio of two bars, here and in the thesis of GSI's author.
inline constexpr std::string_view stack_ratio_name = "here";
inline constexpr std::string_view stack_thesis_name = "thesis";

/// The share of a program's device time, for the bar's series or for the series that its name
/// begins with ("triad" of "triad, folded").
inline constexpr std::string_view stack_app_share_name = "app_share";

/// The label of the remainder, which no part accounts for.
inline constexpr std::string_view stack_remainder = "unattributed";

/// The first words of the reason for a share that is only known to be near 0. Reports and
/// comparisons list all such shares of a bar in one line.
inline constexpr std::string_view stack_not_resolved = "not resolved";

struct StackPart {
  std::string label{};  ///< "memory data: L2"
  double share{0.0};    ///< share of the bar's time; below 0 if removing the cause costs time
  std::optional<double> low{};
  std::optional<double> high{};
  std::string reason{};    ///< a warning about the share
  bool is_resolved{true};  ///< true if the share differs from 0
};

/// One bar in one view.
struct Stack {
  std::string bar{};   ///< the series
  std::string view{};  ///< the method
  std::vector<StackPart> parts{};
  bool is_whole{true};  ///< true if all parts are known; other stacks are not drawn
  std::optional<double> time{};
  std::string time_unit{};           ///< "cycles" or "seconds"
  std::optional<double> relative{};  ///< length of the bar; absent: 1
  std::string baseline{};            ///< the bar of length 1; empty without a baseline
  std::optional<double> app_share{};
};

/// Returns true for a part of a stack.
bool is_stack_part(const Finding& finding);

/// Returns true for a part of a bar or another share of a bar, with or without a value.
bool is_share_of_bar(const Finding& finding);

/// Returns true if the finding's method and label distinguish it from others of its series and
/// name: parts of stacks, and other shares of bars.
bool is_told_by_label(const Finding& finding);

/// Returns true for a share that is only known to be near 0.
bool is_unresolved_share(const Finding& finding);

/// Returns "not resolved: control, memory data: L2 (each within 4.0 % of 0)" for unresolved shares;
/// empty without shares.
std::string describe_unresolved(std::span<const Finding* const> findings);

/// Returns the stacks sorted by view, in the order of the constants above. Stacks of a view keep
/// the order of the findings.
std::vector<Stack> stacks_in(std::span<const Finding> findings);

/// Returns the other shares of bars that have this name, as one stack per bar, without times.
std::vector<Stack> shares_called(std::string_view name, std::span<const Finding> findings);

/// Returns the label up to the colon: "memory data".
std::string_view stack_category(std::string_view label);

/// Returns the labels of all parts without repetition: categories in GSI's order, from no stall to
/// idle, followed by others. Within a category, the labels keep the order of the parts.
std::vector<std::string> stack_labels(std::span<const Stack> stacks);

}  // namespace clprobe
