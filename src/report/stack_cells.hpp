// SPDX-License-Identifier: Apache-2.0
// Stacks in letters: what their pictures on the terminal have in common.
#pragma once

#include <string>
#include <vector>

#include "report/page.hpp"
#include "report/stacks.hpp"

namespace clprobe::report {

/// A letter for each category, of which no two are alike.
std::string letters_of(const std::vector<std::string>& categories);

/// So many cells for each share that they add up to `cells`, by the largest remainders. What is
/// more than nothing and has no cell is left to the table.
std::vector<int> cells_of(const std::vector<CategoryShare>& shares, int cells);

/// What the letters stand for.
void draw_legend(Page& page, const std::vector<std::string>& categories, const std::string& marks);

/// Bars of parts of kernels: a line each below their kernel's name, or, of windows of the time, a
/// column each from left to right.
void draw_parts(Page& page, const std::vector<Stack>& stacks);

}  // namespace clprobe::report
