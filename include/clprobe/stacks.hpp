// SPDX-License-Identifier: Apache-2.0
// Stacks: the parts of a kernel's time, as findings. A bar is a series. A part of it is a finding
// "stall": its label is GSI's category with the sub-class after a colon ("memory data: L2"), its
// value is its share of the bar's time, 0 to 1, with an interval, and its method is the view that
// it belongs to. The whole bar is a finding "time" in cycles or seconds. The parts of one bar in
// one view add up to 1; parts of 0 are left out, and an unknown part is a finding without a value.
// A part of one run matches a part of another run
// if the series, methods and labels of both are equal.
//
// Other shares of a bar are also told apart by their labels: the effect of removing two causes
// together ("interaction"), the noise that the kernel absorbs ("absorbed"), and the largest cause
// as a share of all savings ("first_cause").
//
// No other file writes the words of bars.
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

/// The bar's time as a multiple of the time of a chosen bar, which its method names. Bars that have
/// it are drawn at that length.
inline constexpr std::string_view stack_relative_name = "relative_time";

/// The views, in the order in which they are shown. `gsi`: one cause per cycle. `all-causes`: each
/// cycle divided among all causes that block. `shapley`: the savings of removed causes. `clock`:
/// times by clocks in the kernel.
inline constexpr std::string_view stack_view_gsi = "gsi";
inline constexpr std::string_view stack_view_all_causes = "all-causes";
inline constexpr std::string_view stack_view_shapley = "shapley";
inline constexpr std::string_view stack_view_clock = "clock";

inline constexpr std::string_view stack_interaction_name = "interaction";
inline constexpr std::string_view stack_absorbed_name = "absorbed";
inline constexpr std::string_view stack_first_name = "first_cause";

/// Shares of the time of one compute unit, if a bar is the mean of several that were simulated
/// together: of the unit with the smallest share, the median and the largest.
inline constexpr std::string_view stack_unit_least_name = "least_unit";
inline constexpr std::string_view stack_unit_median_name = "median_unit";
inline constexpr std::string_view stack_unit_most_name = "most_unit";

/// The ratio of two bars, here and in the thesis of GSI's author.
inline constexpr std::string_view stack_ratio_name = "here";
inline constexpr std::string_view stack_thesis_name = "thesis";

/// The bar's share of a program's device time, for the bar's series or the series that its name
/// begins with ("triad" of "triad, folded").
inline constexpr std::string_view stack_app_share_name = "app_share";

/// The label of the rest, which no part accounts for.
inline constexpr std::string_view stack_remainder = "unattributed";

/// The first words of the reason of a share that is only known to be near 0. Reports and
/// comparisons name all such shares of a bar in one line.
inline constexpr std::string_view stack_not_resolved = "not resolved";

struct StackPart {
  std::string label{};  ///< "memory data: L2"
  double share{0.0};    ///< of the bar's time; below 0 if the removal costs time
  std::optional<double> low{};
  std::optional<double> high{};
  std::string reason{};    ///< a warning about the share
  bool is_resolved{true};  ///< apart from 0
};

/// One bar in one view.
struct Stack {
  std::string bar{};   ///< the series
  std::string view{};  ///< the method
  std::vector<StackPart> parts{};
  bool is_whole{true};  ///< whether each part is known; other stacks are not drawn
  std::optional<double> time{};
  std::string time_unit{};           ///< "cycles" or "seconds"
  std::optional<double> relative{};  ///< its length; 1 where there is none
  std::string baseline{};            ///< the bar that has the length 1; empty: none was chosen
  std::optional<double> app_share{};
};

/// True if the finding is a part of a stack.
bool is_stack_part(const Finding& finding);

/// True if the finding is a part of a bar or another share of it, known or not.
bool is_share_of_bar(const Finding& finding);

/// True if method and label distinguish findings of this series and name: parts of stacks, and
/// other shares of bars.
bool is_told_by_label(const Finding& finding);

/// True if the finding is a share that is only known to be near 0.
bool is_unresolved_share(const Finding& finding);

/// Returns "not resolved: control, memory data: L2 (each within 4.0 % of 0)" for unresolved shares;
/// empty for none.
std::string describe_unresolved(std::span<const Finding* const> findings);

/// The stacks by view, in the order of the constants above, and in the order of the findings.
std::vector<Stack> stacks_in(std::span<const Finding> findings);

/// The other shares of bars that have this name, as a bar each, without times.
std::vector<Stack> shares_called(std::string_view name, std::span<const Finding> findings);

/// The label up to the colon: "memory data".
std::string_view stack_category(std::string_view label);

/// The labels of all parts, each once: categories in GSI's order, from no stall to idle, then
/// others; within a category in the order of the parts.
std::vector<std::string> stack_labels(std::span<const Stack> stacks);

}  // namespace clprobe
