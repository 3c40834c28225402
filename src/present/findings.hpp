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

/// Returns the findings in groups. The series of a group have finding names in common, so that the
/// table of a group has few empty columns.
std::vector<std::vector<Finding>> groups_of(std::span<const Finding> findings);

/// Returns a value in its unit: "16.2 ns" for 16.2e-9 "seconds", "192 KiB", "4.41 TB/s", "32.0".
std::string quantity_text(double value, std::string_view unit);
/// True if only a lower limit (`low`) of the finding is known, because the level's end lies beyond
/// the measured points.
bool is_open(const Finding& finding);
/// Returns the finding's value ("16.2 ns", "192 KiB", "32.0", or "> 1 GiB" for an open finding),
/// range ("181–208 KiB") or label; empty if the finding has none of these.
std::string value_text(const Finding& finding);
/// Returns the finding's interval: "±0.4%" for a time, "(181–208)" in the value's unit for a size;
/// empty without an interval.
std::string interval_text(const Finding& finding);
/// Returns the reason for a missing value ("not measured: no images"), or the remark on a value.
std::string reason_text(const Finding& finding);
/// Returns the short form of a reason: the words before the colon, such as "not measured" or "not
/// reached", or "not known" if these words are longer than 14 characters.
std::string short_reason(std::string_view reason);

/// Returns a name as words: "clock drift" for "clock_drift", but a set title for some names ("noise
/// absorbed" for "absorbed"). Only words such as "sub-group" and "work-item" have hyphens.
std::string words(std::string_view name);

/// Returns the value of a parameter in the unit with which the parameter's name ends: "64 KiB" for
/// "working_set_bytes" 65536.
std::string parameter_text(std::string_view name, const Value& value);
/// Returns the unit with which a parameter's name ends: "bytes" for "working_set_bytes"; empty
/// without a unit.
std::string_view parameter_unit(std::string_view name);
/// Returns a parameter's name as words without the unit: "working set" for "working_set_bytes".
std::string parameter_title(std::string_view name);

}  // namespace clprobe::report
