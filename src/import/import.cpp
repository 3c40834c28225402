// SPDX-License-Identifier: Apache-2.0
#include "clprobe/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "import/formats.hpp"
#include "import/lines.hpp"
#include "text/text.hpp"

namespace clprobe {
namespace {

using import::Document;
using import::Format;
using import::Kind;
using import::Uses;

/// An editor's mark of UTF-8 is no part of the text; UTF-16 is no text here.
std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view utf_8 = "\xef\xbb\xbf";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw RunFormatError("document: expected UTF-8, found UTF-16: save it as UTF-8");
  }
  return text.starts_with(utf_8) ? text.substr(utf_8.size()) : text;
}

/// The first two characters that are no blanks.
std::string beginning_of(std::string_view text) {
  std::string beginning;
  for (const char c : text) {
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) beginning += c;
    if (beginning.size() == 2) break;
  }
  return beginning;
}

/// True if a text that is not valid JSON was meant to be: results of tools are objects, and other
/// text has brackets, too: "[Bandwidth Test] - Starting...".
bool is_meant_as_json(std::string_view beginning) {
  constexpr std::array<std::string_view, 5> beginnings{"{\"", "{}", "[{", "[[", "{"};
  return std::find(beginnings.begin(), beginnings.end(), beginning) != beginnings.end();
}

void expect_foreign(const json::Json& document) {
  const json::Json& first = document.is_array() && !document.empty() ? document.front() : document;
  if (first.is_object() && import::text_at(first, "schema") == run_schema_name) {
    throw RunFormatError("it is a run of clprobe: use `clprobe report` or `clprobe compare`");
  }
}

/// "clpeak, mt4g or nvbandwidth": those of a kind.
std::string list_tools(Kind kind) {
  std::vector<std::string_view> tools;
  for (const Format* const each : import::all_formats()) {
    const bool is_new = std::find(tools.begin(), tools.end(), each->tool) == tools.end();
    if (each->kind == kind && is_new) tools.push_back(each->tool);
  }
  const std::string_view last = tools.back();
  tools.pop_back();
  return tools.empty() ? std::string(last) : fmt::format("{} or {}", fmt::join(tools, ", "), last);
}

[[noreturn]] void refuse_unknown(const Document& document) {
  if (document.json) {
    throw RunFormatError(fmt::format("the JSON is not from a known tool: expected results of {}",
                                     list_tools(Kind::json)));
  }
  throw RunFormatError(
      fmt::format("document: expected output of {}, found none", list_tools(Kind::text)));
}

struct Hint {
  std::string_view option;
  bool (*is_given)(const ImportHints&);
  bool (*is_used)(Uses);
};

constexpr std::array hint_table{
    Hint{"--size-unit", [](const ImportHints& hints) { return hints.bytes_per_size_unit > 0.0; },
         [](Uses uses) { return uses == Uses::all; }},
    Hint{"--time-unit",
         [](const ImportHints& hints) { return hints.ns_per_time_unit > 0.0 || hints.in_cycles; },
         [](Uses uses) { return uses == Uses::all; }},
    Hint{"--clock-rate", [](const ImportHints& hints) { return hints.clock_hertz > 0.0; },
         [](Uses uses) { return uses != Uses::nothing; }},
    Hint{"--series", [](const ImportHints& hints) { return !hints.series.empty(); },
         [](Uses uses) { return uses == Uses::all || uses == Uses::clock_and_series; }}};

void expect_used(const ImportHints& hints, const Format& format) {
  for (const Hint& each : hint_table) {
    if (!each.is_given(hints) || each.is_used(format.uses)) continue;
    throw RunFormatError(
        fmt::format("{} does not apply to results of {}: leave it out", each.option, format.tool));
  }
}

std::vector<Run> import_any(std::string_view text, const ImportHints& hints) {
  Document document{.text = without_byte_order_mark(text)};
  const std::string beginning = beginning_of(document.text);
  if (beginning.starts_with('{') || beginning.starts_with('[')) {
    try {
      document.json = json::parse(document.text);
    } catch (const RunFormatError&) {
      if (is_meant_as_json(beginning)) throw;
    }
    if (document.json) expect_foreign(*document.json);
  }
  for (const Format* const each : import::all_formats()) {
    if (!each->recognises(document)) continue;
    expect_used(hints, *each);
    return each->read(document, hints);
  }
  refuse_unknown(document);
}

void expect_sane(std::string_view name, double number) {
  if (is_sane(number)) return;
  throw RunFormatError(
      fmt::format("{} is {}: expected a number that a device can have", name, number));
}

/// Takes the number of compute units from what the tool reports of the device.
void count_units(DeviceInfo& device) {
  constexpr double max_units = 1 << 20;
  for (const std::string_view name : {"compute_units", "Compute units"}) {
    const Value* const value = device.reported.find(name);
    if (value == nullptr) continue;
    const std::string text =
        std::visit([](const auto& each) { return fmt::format("{}", each); }, *value);
    const double units = import::positive_number(text).value_or(0.0);
    if (units <= max_units) device.compute_units = static_cast<std::int64_t>(units);
  }
}

void expect_sane(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    if (const auto* const number = std::get_if<double>(&value)) expect_sane(name, *number);
  }
}

}  // namespace

std::vector<Run> import_runs(std::string_view text, const ImportHints& hints) {
  std::vector<Run> runs = import_any(text, hints);
  for (Run& run : runs) {
    count_units(run.device);
    for (const ProbeResult& result : run.results) {
      for (const Point& point : result.points) {
        expect_sane(point.parameters);
        expect_sane(point.facts);
      }
      for (const Finding& finding : result.findings) {
        if (finding.value) expect_sane(printable_ascii(finding.series), *finding.value);
      }
    }
  }
  return runs;
}

}  // namespace clprobe
