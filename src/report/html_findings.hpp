// SPDX-License-Identifier: Apache-2.0
// Findings as tables of a page.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "report/side_by_side.hpp"

namespace clprobe::report {

/// One device's findings: a row per level, a column per finding.
std::string findings_html(const std::vector<Finding>& findings, std::string_view caption);

/// The findings of several devices: a row per level, a column per device, whose titles are given.
std::string shared_findings_html(const SharedGrid& grid, std::span<const std::string> titles);

}  // namespace clprobe::report
