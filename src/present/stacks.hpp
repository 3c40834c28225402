// SPDX-License-Identifier: Apache-2.0
// Stacked bars: shares of a kernel's time by cause, a bar per kernel.
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

/// Returns the findings without the shares and times of bars.
std::vector<Finding> without_stacks(std::span<const Finding> findings);

/// Returns the title of a view of the stacks, such as "one cause per cycle (GSI)".
std::string view_title(std::string_view view);

/// Returns the stacks of each view, in the order of stacks_in().
std::vector<std::vector<Stack>> views_of(std::span<const Finding> findings);

/// Additional kind of shares in a table: the name of the findings, and a title.
struct Beside {
  std::string_view name;
  std::string_view title;
};
inline constexpr std::array shares_beside{
    Beside{stack_first_name, "largest cause, % of all savings"},
    Beside{stack_absorbed_name,
           "noise absorbed, % of the time (time during which the resource is free)"},
    Beside{stack_interaction_name,
           "interaction of two causes, % of the time (positive if only removing both saves the "
           "time, negative if removing either saves it)"},
    Beside{stack_unit_least_name, "minimum over the compute units, % of the time"},
    Beside{stack_unit_median_name, "median over the compute units, % of the time"},
    Beside{stack_unit_most_name, "maximum over the compute units, % of the time"},
};

/// Categories of the method GSI, and those that clprobe adds to them, in stacking order.
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

/// Returns a number per category, which selects the category's fill and letter. A known category
/// has its index in `known_categories`, so that a cause looks the same in every figure. Unknown
/// categories have the numbers after the known ones.
std::vector<std::size_t> category_numbers(std::span<const std::string> categories);

/// Returns stacks for drawing. The unresolved parts of a bar are replaced by a single part
/// `stack_not_resolved` with their total share.
std::vector<Stack> drawn_stacks(std::span<const Stack> stacks);

/// Returns the categories that have at least two labels, such as "memory data" with the labels
/// "memory data: L1" and "memory data: L2".
std::vector<std::string> divided_categories(std::span<const Stack> stacks);

/// Returns bars that show only one category. Their parts are shares of the category's time. If
/// there is a baseline bar, the length of each bar is relative to the category's length in the
/// baseline. Bars without the category or with an unknown part are omitted.
std::vector<Stack> stacks_of_category(std::span<const Stack> stacks, std::string_view category);

/// Returns the categories of labels, in order of first appearance.
std::vector<std::string> category_names(std::span<const std::string> labels);

/// Returns a share in percent with its interval: "12.3 ±0.4". A star marks a share with a remark.
std::string share_text(const StackPart& part);
/// Returns the part with this label; null if the bar has none.
const StackPart* part_of(const Stack& stack, std::string_view label);
/// Returns the time of a bar: "3038637 cycles", "1.23 ms"; empty if unknown.
std::string time_text(const Stack& stack);
/// Returns the remarks on shares with a star, each once with the names of its bars: "barrier:
/// taking ...". Unresolved shares have no stars, since tables do not show them.
std::vector<std::string> remarks_of(std::span<const Stack> stacks);

/// Returns a line for each bar with unresolved shares, such as "uts: not resolved: control, idle
/// (each within 4.0 % of 0)".
std::vector<std::string> unresolved_lines(std::span<const Stack> stacks);

/// Returns the maximum of the bars' relative lengths; 1 if the bars have no relative lengths.
double longest_of(std::span<const Stack> stacks);

/// Text in place of a bar whose shares are not all known.
inline constexpr std::string_view no_bar = "not drawn: a share is unknown";

/// Category and its share of a bar: the sum of the category's parts, at least 0.
struct CategoryShare {
  std::string category{};
  double share{0.0};
};
/// Returns the shares of a bar's categories, in the order of stack_labels().
std::vector<CategoryShare> categories_of(const Stack& stack, std::span<const std::string> labels);

/// Draws a line per bar with a letter per category, and a legend. All forms except the brief form
/// also have a table of shares. Only the whole form has remarks, additional shares, and views after
/// the first.
void draw_stacks(Page& page, std::span<const Finding> findings, Form form);

/// Returns the shares of a view's bars as a table: a row per part, a column per bar. Unresolved
/// shares are blank.
Table table_of(const std::vector<Stack>& stacks);
/// Returns remarks on the result of table_of(): the remarks that stars refer to, and the unresolved
/// shares.
std::vector<Block> notes_of(const std::vector<Stack>& stacks);

}  // namespace clprobe::report
