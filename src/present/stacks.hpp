// SPDX-License-Identifier: Apache-2.0
// Stacked bars: where the time of kernels goes, one bar a kernel.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "clprobe/stacks.hpp"
#include "present/api/page.hpp"
#include "present/blocks.hpp"

namespace clprobe::report {

/// The findings that are neither shares of bars nor times of bars.
std::vector<Finding> without_stacks(std::span<const Finding> findings);

/// The title of a view: "one cause per cycle (GSI)".
std::string view_title(std::string_view view);

/// The stacks of each view, in the order of stacks_in().
std::vector<std::vector<Stack>> views_of(std::span<const Finding> findings);

/// A kind of shares beside the bars: the name of its findings and its title.
struct Beside {
  std::string_view name;
  std::string_view title;
};
inline constexpr std::array shares_beside{
    Beside{stack_first_name, "largest cause, % of all savings"},
    Beside{stack_absorbed_name, "free share of each resource (noise test), % of the time"},
    Beside{
        stack_interaction_name,
        "interaction of two causes, % of the time (above 0: only removing both saves it; below 0: "
        "removing either saves it)"},
    Beside{stack_unit_least_name, "minimum over the compute units, % of the time"},
    Beside{stack_unit_median_name, "median over the compute units, % of the time"},
    Beside{stack_unit_most_name, "maximum over the compute units, % of the time"},
};

/// The causes that GSI has names for, in the order in which they are stacked.
inline constexpr std::array<std::string_view, 11> known_categories{"no stall",
                                                                   "compute structural",
                                                                   "compute data",
                                                                   "memory structural",
                                                                   "memory data",
                                                                   "synchronization",
                                                                   "control",
                                                                   "idle",
                                                                   "end-of-kernel flush",
                                                                   stack_remainder,
                                                                   stack_not_resolved};

/// A number for each category, by which pictures and pages fill it: of a known one its place among
/// them, so that a cause looks the same whatever stands beside it; of others the numbers after
/// those.
std::vector<std::size_t> category_numbers(std::span<const std::string> categories);

/// Stacks as they are drawn: parts of a bar that are not resolved, which tables leave blank, are
/// one part `stack_not_resolved` of their total share.
std::vector<Stack> drawn_stacks(std::span<const Stack> stacks);

/// The categories with several labels: "memory data" of "memory data: L1" and "memory data: L2".
std::vector<std::string> divided_categories(std::span<const Stack> stacks);

/// Bars of one category alone: each part is a share of what the category takes of its bar, and the
/// bar is as long as that is to the baseline's, where one was chosen. Bars without it are left out.
std::vector<Stack> stacks_of_category(std::span<const Stack> stacks, std::string_view category);

/// The categories of labels, in their order.
std::vector<std::string> category_names(std::span<const std::string> labels);

/// A share in percent, "12.3", with its interval, "12.3 ±0.4". A star marks a share that has a
/// remark.
std::string share_text(const StackPart& part);
/// The part with this label; null where the bar has none.
const StackPart* part_of(const Stack& stack, std::string_view label);
/// "3038637 cycles", "1.23 ms"; empty where it is not known.
std::string time_text(const Stack& stack);
/// The remarks that stars stand for, each once with its bars: "barrier: taking ...". Unresolved
/// shares have no stars, since they stand in no table.
std::vector<std::string> remarks_of(std::span<const Stack> stacks);

/// "uts: not resolved: control, idle (each within 4.0 % of 0)", a line per bar.
std::vector<std::string> unresolved_lines(std::span<const Stack> stacks);

/// The greatest length of a bar that is drawn: 1 where none is relative to another one.
double longest_of(std::span<const Stack> stacks);

/// Text in the place of a bar that is not whole.
inline constexpr std::string_view no_bar = "not drawn: a part is unknown";

/// A category, and its share of a bar: the sum of its parts, at least 0.
struct CategoryShare {
  std::string category{};
  double share{0.0};
};
/// The shares of a bar's categories in the order of stack_labels(), which is that of all bars.
std::vector<CategoryShare> categories_of(const Stack& stack, std::span<const std::string> labels);

/// A line a bar, a letter a category, and what the letters stand for; then the shares as a table,
/// but in the brief form. Views of parts of kernels, which are there where they were asked for,
/// come after these, bars alone. Views but the first, shares beside the bars and remarks are in the
/// whole form alone.
void draw_stacks(Page& page, std::span<const Finding> findings, Form form);

/// The shares of stacks of one kind: a row is a part, a column a bar; shares that are not resolved
/// have neither.
Table table_of(const std::vector<Stack>& stacks);
/// Remarks on such a table: the meaning of its stars, and the unresolved shares.
std::vector<Block> notes_of(const std::vector<Stack>& stacks);

}  // namespace clprobe::report
