// SPDX-License-Identifier: Apache-2.0
// The parts of the terminal's table, each put on a page.
#pragma once

#include <span>

#include "clprobe/run.hpp"
#include "report/page.hpp"

namespace clprobe::report {

/// A row per level. Where the page is narrow, series become lines of their own, then intervals are
/// left out from the right, and at last each level is a sentence. Reasons follow in the whole form.
void add_findings(Page& page, const std::vector<Finding>& findings, Form form);

/// The findings of several runs in one table: findings are rows, devices are columns; as many as
/// fit, then the next ones below. In the whole form all findings, else the headlines.
void add_side_by_side(Page& page, std::span<const Run> runs, Form form);

}  // namespace clprobe::report
