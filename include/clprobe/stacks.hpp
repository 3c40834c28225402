// SPDX-License-Identifier: Apache-2.0
// Stacks: where the time of a kernel goes, as findings. A bar is a series. A part of it is a
// finding "stall" whose label is GSI's category with the sub-class behind a colon ("memory data:
// L2"), whose value is its share of the bar's time, 0 to 1, with an interval, and whose method is
// the view that it belongs to. The whole bar is a finding "time" in cycles or seconds. The parts of
// one bar in one view add up to 1; those that are nothing are left out, and one that is not known
// is a finding without a value. Two parts are the same one in two runs when series, method and
// label are.
//
// Beside the parts there may be other shares of the same bars, told apart by their labels too: what
// two causes do together ("interaction"), the noise that fits in ("absorbed"), and the largest
// cause's part of what all take away ("first_cause").
//
// The words of bars are written here and nowhere else.
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

/// The bar's time as a multiple of that of a bar that was chosen, which its method names. Where
/// bars have it, they are drawn as long.
inline constexpr std::string_view stack_relative_name = "relative_time";

/// The views, in the order in which they are shown. `gsi`: one cause per cycle. `all-causes`: each
/// cycle shared by all that blocks. `shapley`: what taking causes away saves. `clock`: what clocks
/// in the kernel say. The others have bars of parts of kernels: of compute units, of sub-groups, of
/// windows of the time one after the other. The name of such a bar is the kernel's, ", " and what
/// of it the bar is.
inline constexpr std::string_view stack_view_gsi = "gsi";
inline constexpr std::string_view stack_view_all_causes = "all-causes";
inline constexpr std::string_view stack_view_shapley = "shapley";
inline constexpr std::string_view stack_view_clock = "clock";
inline constexpr std::string_view stack_view_units = "units";
inline constexpr std::string_view stack_view_sub_groups = "sub-groups";
inline constexpr std::string_view stack_view_timeline = "timeline";

inline constexpr std::string_view stack_interaction_name = "interaction";
inline constexpr std::string_view stack_absorbed_name = "absorbed";
inline constexpr std::string_view stack_first_name = "first_cause";

/// Shares of the time of one compute unit, where a bar is the mean of several that were simulated
/// together: of the unit that has least of it, of the median one, of the one that has most.
inline constexpr std::string_view stack_unit_least_name = "least_unit";
inline constexpr std::string_view stack_unit_median_name = "median_unit";
inline constexpr std::string_view stack_unit_most_name = "most_unit";

/// The ratio of two bars, here and as the thesis of GSI's author has it.
inline constexpr std::string_view stack_ratio_name = "here";
inline constexpr std::string_view stack_thesis_name = "thesis";

/// What of a program's device time a bar is: of the bar's series, or of the one that its name
/// begins with ("triad" of "triad, folded").
inline constexpr std::string_view stack_app_share_name = "app_share";

/// What no part accounts for: a label.
inline constexpr std::string_view stack_remainder = "unattributed";

/// How the reason of a share begins of which no more is known than that it is near 0. Reports and
/// comparisons name all such shares of a bar in one line.
inline constexpr std::string_view stack_not_resolved = "not resolved";

struct StackPart {
  std::string label{};  ///< "memory data: L2"
  double share{0.0};    ///< of the bar's time; below 0 for what costs time to take away
  std::optional<double> low{};
  std::optional<double> high{};
  std::string reason{};    ///< what to be wary of
  bool is_resolved{true};  ///< apart from 0
};

/// One bar in one view.
struct Stack {
  std::string bar{};   ///< the series
  std::string view{};  ///< the method
  std::vector<StackPart> parts{};
  bool is_whole{true};  ///< whether each part is known: one that is not is drawn as no bar
  std::optional<double> time{};
  std::string time_unit{};           ///< "cycles" or "seconds"
  std::optional<double> relative{};  ///< its length; 1 where there is none
  std::string baseline{};            ///< the bar that has the length 1; empty: none was chosen
  std::optional<double> app_share{};
};

/// Whether the bars of a view are of parts of kernels.
bool is_of_parts(std::string_view view);
/// The kernel of which a bar is a part, and what of it the bar is: "uts, ownership" and "unit 3".
struct BarOfPart {
  std::string_view kernel;
  std::string_view part;
};
/// Of the name of a bar in such a view; without a part where there is no ", " in it.
BarOfPart split_bar(std::string_view bar);

/// Whether the finding is a part of a stack.
bool is_stack_part(const Finding& finding);

/// Whether it is a part of a bar or a share beside the parts, known or not.
bool is_share_of_bar(const Finding& finding);

/// Whether findings of this series and name are told from each other by method and label: parts of
/// stacks, and the shares beside them.
bool is_told_by_label(const Finding& finding);

/// Whether it is a share of which no more is known than that it is near 0.
bool is_unresolved_share(const Finding& finding);

/// "not resolved: control, memory data: L2 (each within 4.0 % of 0)": the findings are unresolved
/// shares; empty without any.
std::string describe_unresolved(std::span<const Finding* const> findings);

/// The stacks, by view in the order of the constants above, and within a view as they come.
std::vector<Stack> stacks_in(std::span<const Finding> findings);

/// The same of the shares beside them that have this name: a bar each, without times.
std::vector<Stack> shares_called(std::string_view name, std::span<const Finding> findings);

/// The label up to the colon: "memory data".
std::string_view stack_category(std::string_view label);

/// The labels of all parts, each once: categories in GSI's order, from no stall to idle, then
/// others as they come; within a category as they come.
std::vector<std::string> stack_labels(std::span<const Stack> stacks);

}  // namespace clprobe
