// SPDX-License-Identifier: Apache-2.0
// The formats that are read, a file each. A new one is a file that defines a `Format`, and its line
// in formats.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/import.hpp"
#include "run/json.hpp"

namespace clprobe::import {

/// The text of a file, and what it is as JSON.
struct Document {
  std::string_view text{};
  std::optional<json::Json> json{};
};

/// What of the hints a format has a use for.
enum class Uses { nothing, clock, clock_and_series, all };

enum class Kind { text, json, xml };

struct Format {
  std::string_view name{};  ///< in the document: "mt4g-json"
  Kind kind{Kind::text};
  std::string_view tool{};  ///< whose it is, in a sentence: "mt4g"
  Uses uses{Uses::nothing};
  bool (*recognises)(const Document&){nullptr};
  /// Throws RunFormatError with the line or the path.
  std::vector<Run> (*read)(const Document&, const ImportHints&){nullptr};
};

/// In the order in which they are asked.
std::span<const Format* const> all_formats();

/// A run of a device of which nothing is known but what another tool said.
Run imported_run(const ImportHints& hints, std::string_view tool, const Format& format);

/// One number of another tool as a finding without an interval. `unit` is the tool's own word; the
/// value becomes SI, and the finding is called "bandwidth", "throughput" or "time" by it.
Finding imported_finding(std::string_view series, double value, std::string_view unit,
                         std::string_view tool);

/// The same for what the tool could not measure.
Finding imported_gap(std::string_view series, std::string_view unit, std::string_view reason,
                     std::string_view tool);

/// A result for the probe's id that has no points yet.
ProbeResult& result_of(Run& run, std::string_view probe);

/// The text at the key; empty where there is none.
std::string text_at(const json::Json& object, const char* key);
/// The object at the key, or null.
const json::Json* object_at(const json::Json& object, const char* key);

}  // namespace clprobe::import
