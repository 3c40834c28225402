// SPDX-License-Identifier: Apache-2.0
// Findings as cells of tables, for all formats.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::report {

/// Returns groups of findings whose series share names, so that a group's table has few empty
/// columns.
std::vector<std::vector<Finding>> groups_of(std::span<const Finding> findings);

/// Returns a value in its unit: "16.2 ns" for 16.2e-9 "seconds", "192 KiB", "4.41 TB/s", "32.0".
std::string quantity_text(double value, std::string_view unit);
/// True if a finding is only known to exceed `low`, because the measured points ended before its
/// end.
bool is_open(const Finding& finding);
/// Returns "16.2 ns", "192 KiB", "32.0", "> 1 GiB" for an open finding, or the label. Empty without
/// any.
std::string value_text(const Finding& finding);
/// Returns the interval: "±0.4%" for a time, "(181–208)" for a size, in the unit of the value.
/// Empty without an interval.
std::string interval_text(const Finding& finding);
/// Returns the reason for a missing value as a sentence: "not measured: the device has no images".
std::string reason_text(const Finding& finding);
/// Returns the part of a reason before the colon, "not measured" or "not reached"; "not known" for
/// others.
std::string short_reason(std::string_view reason);

/// Returns a name such as "clock_drift" or "cache-or-far" as words, with hyphens only in words such
/// as "sub-group" and "work-item".
std::string words(std::string_view name);

/// Returns a value by the unit in its name: "64 KiB" for "working_set_bytes" 65536.
std::string parameter_text(std::string_view name, const Value& value);
/// Returns the unit in a name: "bytes" for "working_set_bytes"; empty without one.
std::string_view parameter_unit(std::string_view name);
/// Returns the name without its unit: "working set".
std::string parameter_title(std::string_view name);

}  // namespace clprobe::report
