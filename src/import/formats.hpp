// SPDX-License-Identifier: Apache-2.0
// The importers, one a format, and what they share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/import.hpp"

namespace clprobe::import {

/// A run of a device of which nothing is known but what another tool said.
Run imported_run(const ImportHints& hints, std::string_view tool, std::string_view format);

/// One number of another tool as a finding without an interval. `unit` is the tool's own word; the
/// value becomes SI, and the finding is called "bandwidth", "throughput" or "time" by it.
Finding imported_finding(std::string_view series, double value, std::string_view unit,
                         std::string_view tool);

/// The same for what the tool could not measure.
Finding imported_gap(std::string_view series, std::string_view unit, std::string_view reason,
                     std::string_view tool);

/// A finite number above 0 in fixed or scientific notation; nothing for anything else.
std::optional<double> positive_number(std::string_view text);

/// Without blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// Takes the first line off `text`.
std::string_view next_line(std::string_view& text);

/// Its beginning, in printable ASCII, for messages.
std::string excerpt(std::string_view text);

/// A result for the probe's id that has no points yet.
ProbeResult& result_of(Run& run, std::string_view probe);

// Whether the text is of the format, and its runs.
bool is_clpeak_json(std::string_view text);
bool is_clpeak_xml(std::string_view text);
bool is_clmempatterns(std::string_view text);
std::vector<Run> import_clpeak_json(std::string_view text, const ImportHints& hints);
std::vector<Run> import_clpeak_xml(std::string_view text, const ImportHints& hints);
std::vector<Run> import_clmempatterns(std::string_view text, const ImportHints& hints);
std::vector<Run> import_size_latency(std::string_view text, const ImportHints& hints);

}  // namespace clprobe::import
