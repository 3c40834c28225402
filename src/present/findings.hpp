// SPDX-License-Identifier: Apache-2.0
// Findings as cells of tables: what the terminal's table, Markdown and side by side have in common.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::report {

/// Groups of findings whose series share names, so that the table of a group has few empty columns.
std::vector<std::vector<Finding>> groups_of(std::span<const Finding> findings);

/// A value by its unit: "16.2 ns" of 16.2e-9 "seconds", "192 KiB", "4.41 TB/s", "32.0".
std::string quantity_text(double value, std::string_view unit);
/// True if a finding is only known to exceed `low`, because the measured points did not reach its
/// end.
bool is_open(const Finding& finding);
/// "16.2 ns", "192 KiB", "32.0", "> 1 GiB" of what is open, or the label where the conclusion is a
/// word. Empty without any.
std::string value_text(const Finding& finding);
/// "±0.4%" of a time, "(181–208)" of a size, in the unit of the value; empty without an interval.
std::string interval_text(const Finding& finding);
/// The reason for a missing value, as a sentence: "not measured: the device has no images".
std::string reason_text(const Finding& finding);
/// The part of a reason before the colon, "not measured" or "not reached"; "not known" of others.
std::string short_reason(std::string_view reason);

/// "clock_drift" and "cache-or-far" as words, with a hyphen in "sub-group", "work-item" and the
/// like; a hyphen in a series' name is kept elsewhere.
std::string words(std::string_view name);

/// A value of a document by the unit in its name: "working_set_bytes" 65536 is "64 KiB".
std::string parameter_text(std::string_view name, const Value& value);
/// The unit in a name: "bytes" of "working_set_bytes"; empty without one.
std::string_view parameter_unit(std::string_view name);
/// The name without the unit that `parameter_text` shows: "working set".
std::string parameter_title(std::string_view name);

}  // namespace clprobe::report
