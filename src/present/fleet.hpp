// SPDX-License-Identifier: Apache-2.0
// Reports on fleets, one function per format.
#pragma once

#include <string>
#include <vector>

#include "fleet/api/fleet.hpp"
#include "present/api/report.hpp"
#include "present/blocks.hpp"

namespace clprobe::report {

/// Returns the report as blocks: summary, slow devices, remarks, distributions. `is_whole`: all
/// distributions and suspects; otherwise the first of them.
std::vector<Block> fleet_blocks(const fleet::Report& report, bool is_whole);

/// Returns a line with the numbers of devices: "64 devices of 8 nodes, 1 missing, 0 failed, ...".
std::string fleet_summary(const fleet::Report& report);
/// Returns the place of a device: "a003 slot 5".
std::string place_text(const fleet::Device& device);
/// Returns a loss as a share: "12.3 % worse" or "3.1 % better".
std::string loss_text(double loss);
/// Returns how sure the verdict on a deviation is: "sure", "measure again", "may be noise".
std::string_view certainty_text(const fleet::Deviation& deviation);

std::string fleet_table(const fleet::Report& report, const TableStyle& style);
std::string fleet_markdown(const fleet::Report& report, const TableStyle& style);
std::string fleet_html(const fleet::Report& report, const TableStyle& style);
std::string fleet_csv(const fleet::Report& report, const TableStyle& style);
std::string fleet_json(const fleet::Report& report, const TableStyle& style);

}  // namespace clprobe::report
