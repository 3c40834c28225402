// SPDX-License-Identifier: Apache-2.0
// Reader and writer of run documents. The reader rejects unknown keys and wrong values, since a
// guessed value would change the results. fields.hpp lists the keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

#include "run/api/json.hpp"
#include "run/fields.hpp"

namespace clprobe::json {
namespace {

std::int64_t integer_from(const Cursor& number, std::int64_t least,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const std::int64_t value = number.integer();
  if (value < least) number.refuse(fmt::format("an integer of at least {}", least));
  if (value > most) number.refuse(fmt::format("an integer of at most {}", most));
  return value;
}

/// Returns a number whose magnitude is valid for device quantities, so that results computed from
/// it stay finite. Throws RunFormatError for other numbers.
double number_from(const Cursor& cursor) {
  const double value = cursor.number();
  if (!is_sane(value)) {
    cursor.refuse(fmt::format("0 or a magnitude from {} to {}", min_magnitude, max_magnitude));
  }
  return value;
}

/// Returns a text, truncated to 16 KiB, since reports need a hundred times the memory of a text.
/// The longest usual texts, drivers' lists of extensions, have a few thousand bytes.
std::string text_from(const Cursor& cursor) {
  constexpr std::size_t max_bytes = std::size_t{1} << 14U;
  std::string text = cursor.text();
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

Value read_named(const Cursor& cursor) {
  if (cursor.is_text()) return text_from(cursor);
  if (cursor.is_whole()) return cursor.integer();
  if (cursor.is_number()) return number_from(cursor);
  cursor.refuse("a number or a string");
}

}  // namespace

void Reader::read(const Cursor& cursor, Parameters& parameters, const Limits&) {
  std::vector<std::pair<std::string, Value>> entries;
  std::vector<std::string_view> names;
  cursor.for_each_member([&](std::string_view name, const Cursor& value) {
    entries.emplace_back(std::string(name), read_named(value));
    names.push_back(name);
  });
  // Sorting finds repeated names faster than a search for each name: an object may have 4096 names.
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
    cursor.refuse("each key only once");
  }
  parameters = Parameters(std::move(entries));
}

void Reader::read(const Cursor& cursor, std::string& value, const Limits&) {
  value = text_from(cursor);
}

void Reader::read(const Cursor& cursor, bool& value, const Limits&) { value = cursor.boolean(); }

void Reader::read(const Cursor& cursor, double& value, const Limits& limits) {
  value = number_from(cursor);
  if (value < limits.low || value > limits.high) {
    cursor.refuse(fmt::format("a number from {} to {}", limits.low, limits.high));
  }
}

void Reader::read(const Cursor& cursor, Bytes& value, const Limits& limits) {
  read(cursor, value.count, limits);
}

void Reader::read(const Cursor& cursor, std::uint64_t& value, const Limits& limits) {
  const bool has_range = limits.most != Limits{}.most;
  const auto refuse = [&] {
    cursor.refuse(fmt::format("an integer from {} to {}", limits.least, limits.most));
  };
  if (has_range && cursor.is_missing()) refuse();
  value = cursor.natural();
  const bool is_within = value >= static_cast<std::uint64_t>(limits.least) &&
                         value <= static_cast<std::uint64_t>(limits.most);
  if (has_range && !is_within) refuse();
}

void Reader::read(const Cursor& cursor, std::int64_t& value, const Limits& limits) {
  value = integer_from(cursor, limits.least, limits.most);
}

void Reader::read(const Cursor& cursor, int& value, const Limits& limits) {
  const std::int64_t wide = integer_from(cursor, limits.least);
  if (wide > std::numeric_limits<int>::max()) cursor.refuse("an integer below 2^31");
  value = static_cast<int>(wide);
}

void Reader::refuse_word(const Cursor& cursor, const std::vector<std::string_view>& words) {
  cursor.refuse(fmt::format("one of {}", fmt::join(words, ", ")));
}

namespace {

/// Another kind of document that clprobe writes, and its purpose.
struct OtherDocument {
  std::string_view schema;
  std::string_view what;
};
constexpr std::array other_documents{
    OtherDocument{"clprobe-survey",
                  "a survey of a program's kernels (profile --list), which no command reads; "
                  "`clprobe profile` without --list writes runs"},
    OtherDocument{"clprobe-launch",
                  "a launch of a kernel, not a run: `clprobe profile FOLDER` replays it"},
};

void refuse_other_document(std::string_view schema) {
  for (const OtherDocument& each : other_documents) {
    if (each.schema == schema) throw RunFormatError(fmt::format("it is {}", each.what));
  }
}

// The schema is checked before the keys. Otherwise an error about an unknown key would hide that
// the document has another schema or a newer version.
void expect_known_schema(const Cursor& cursor) {
  cursor.expect_any_object();
  const Cursor name(cursor, "schema");
  if (name.is_missing()) {
    name.refuse(
        "\"clprobe-run\", as in every run of clprobe (`clprobe import` reads other tools' files)");
  }
  refuse_other_document(name.text());
  if (name.text() != run_schema_name) name.refuse(fmt::format("\"{}\"", run_schema_name));
  const Cursor version(cursor, "schema_version");
  if (integer_from(version, run_schema_version) > run_schema_version) {
    version.refuse(fmt::format("at most {} (a newer clprobe wrote this file)", run_schema_version));
  }
}

// Limits of a document. Reports and analyses compare series and names pairwise, so a hostile file
// of a few MB could otherwise take hours. A typical run has 20 series and 50 names. The largest
// known run, all cases of gsi on a simulated device, has 10,507 findings and 1,749 names.
constexpr std::size_t max_results = 64;
constexpr std::size_t max_series = 256;
constexpr std::size_t max_names = 4096;
constexpr std::size_t max_findings = 32768;

/// Returns a description of the limit that a result exceeds; empty if it exceeds none.
std::string exceeded_limit(const ProbeResult& result) {
  std::set<std::string_view> series;
  std::set<std::string_view> names;
  for (const Point& point : result.points) {
    series.insert(point.series);
    for (const Parameters* const each : {&point.parameters, &point.facts}) {
      for (const auto& [name, value] : *each) names.insert(name);
    }
    if (series.size() > max_series) return fmt::format("points of at most {} series", max_series);
    if (names.size() > max_names) return fmt::format("at most {} distinct point keys", max_names);
  }
  if (result.findings.size() <= max_findings) return {};
  return fmt::format("at most {} findings", max_findings);
}

/// Throws RunFormatError for too many results, for a result that is too large, and for a second
/// result of the same probe.
void check_results(const Cursor& results, const Run& run) {
  if (run.results.size() > max_results) {
    results.refuse(fmt::format("at most {} results", max_results));
  }
  std::set<std::string_view> probes;
  std::size_t i = 0;
  results.for_each_element([&](const Cursor& each) {
    const ProbeResult& result = run.results[i++];
    if (!probes.insert(result.probe).second) Cursor(each, "probe").refuse("each probe only once");
    const std::string limit = exceeded_limit(result);
    if (!limit.empty()) each.refuse(limit);
  });
}

Run read_run(const Cursor& cursor) {
  expect_known_schema(cursor);
  Run run;
  Reader::read(cursor, run);
  check_results(Cursor(cursor, "results"), run);
  return run;
}

}  // namespace

Json Writer::write(std::string_view key, double value) {
  // nlohmann would write null for a number that is not finite, and readers could not distinguish
  // that from "not measured".
  if (!std::isfinite(value)) throw std::invalid_argument(fmt::format("{} is not finite", key));
  return value;
}

Json Writer::write(std::string_view, Bytes value) { return value.count; }

Json Writer::write(std::string_view, const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters) {
    object[name] =
        std::visit([&, &key = name](const auto& held) { return write(key, held); }, value);
  }
  return object;
}

template <typename T>
Json encode(const T& value) {
  return Writer::write({}, value);
}

template Json encode(const Parameters&);
template Json encode(const Sample&);
template Json encode(const Point&);
template Json encode(const Warning&);
template Json encode(const DeviceInfo&);
template Json encode(const KernelBuild&);
template Json encode(const Run&);

template <typename T>
T decode(const Json& value) {
  const Cursor root(value);
  if constexpr (std::is_same_v<T, Run>) {
    return read_run(root);
  } else {
    T decoded{};
    Reader::read(root, decoded);
    return decoded;
  }
}

template Parameters decode(const Json&);
template Sample decode(const Json&);
template Point decode(const Json&);
template Warning decode(const Json&);
template KernelBuild decode(const Json&);
template DeviceInfo decode(const Json&);
template Clock decode(const Json&);
template Run decode(const Json&);

}  // namespace clprobe::json

namespace clprobe {

std::vector<Run> runs_from_json(std::string_view text) {
  const json::Json document = json::parse(text);
  const json::Cursor root(document);
  if (document.is_array()) {
    std::vector<Run> runs;
    runs.reserve(root.size_hint());
    root.for_each_element([&](const json::Cursor& each) { runs.push_back(json::read_run(each)); });
    return runs;
  }
  if (!document.is_object()) root.refuse("a run (an object) or an array of runs");
  return {json::read_run(root)};
}

std::string to_json(std::span<const Run> runs) {
  return runs.size() == 1 ? json::many_lines(json::encode(runs.front())) : to_json_array(runs);
}

std::string to_json_array(std::span<const Run> runs) {
  json::Json documents = json::Json::array();
  for (const Run& run : runs) documents.push_back(json::encode(run));
  return json::many_lines(documents);
}

}  // namespace clprobe
