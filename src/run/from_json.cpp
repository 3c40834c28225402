// SPDX-License-Identifier: Apache-2.0
// The reader of run documents. It is strict: a skipped key or a guessed value would change what a
// run says. fields.hpp lists the keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "run/api/json.hpp"
#include "run/fields.hpp"

namespace clprobe::json {
namespace {

template <typename Enum>
Enum read_word(const Cursor& word) {
  const std::optional<Enum> value = from_word<Enum>(word.text());
  if (!value) word.refuse(fmt::format("one of {}", fmt::join(all_words<Enum>(), ", ")));
  return *value;
}

/// Reads every element of an array by `read(cursor)`.
template <typename Read>
auto read_each(const Cursor& array, Read read) {
  std::vector<decltype(read(array))> values;
  values.reserve(array.size_hint());
  array.for_each_element([&](const Cursor& each) { values.push_back(read(each)); });
  return values;
}

std::int64_t integer_from(const Cursor& number, std::int64_t least,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const std::int64_t value = number.integer();
  if (value < least) number.refuse(fmt::format("an integer from {}", least));
  if (value > most) number.refuse(fmt::format("an integer up to {}", most));
  return value;
}

/// Reads a number that a device's quantity can have, so that results computed from it stay finite.
double number_from(const Cursor& cursor) {
  const double value = cursor.number();
  if (!is_sane(value)) {
    cursor.refuse(fmt::format("0 or a magnitude from {} to {}", min_magnitude, max_magnitude));
  }
  return value;
}

/// Reads a text and cuts a longer one: reports take a hundred times the memory of a text. Drivers'
/// lists of extensions have at most a few thousand bytes.
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

/// Reads the members of objects, each by its type. `limits` are for numbers alone.
class Reader {
 public:
  template <HasFields T>
  static void read(const Cursor& cursor, T& object, const Limits& = {}) {
    const auto found = cursor.members(keys_of<T>);
    std::size_t place = 0;
    for_each_field<T>([&](const auto& field) { read_field(found[place++], field, object); });
  }
  template <typename T>
  static void read(const Cursor& cursor, std::vector<T>& values, const Limits& = {}) {
    values = read_each(cursor, [&](const Cursor& each) {
      T value{};
      read(each, value);
      return value;
    });
  }
  template <typename T>
  static void read(const Cursor& cursor, std::optional<T>& value, const Limits& limits = {}) {
    read(cursor, value.emplace(), limits);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  static void read(const Cursor& cursor, Enum& value, const Limits& = {}) {
    value = read_word<Enum>(cursor);
  }
  static void read(const Cursor& cursor, Parameters& parameters, const Limits& = {}) {
    std::vector<std::pair<std::string, Value>> entries;
    std::vector<std::string_view> names;
    cursor.for_each_member([&](std::string_view name, const Cursor& value) {
      entries.emplace_back(std::string(name), read_named(value));
      names.push_back(name);
    });
    // Sorted, so that four thousand names are not each sought among all others.
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
      cursor.refuse("each key only once");
    }
    parameters = Parameters(std::move(entries));
  }
  static void read(const Cursor& cursor, std::string& value, const Limits& = {}) {
    value = text_from(cursor);
  }
  static void read(const Cursor& cursor, bool& value, const Limits& = {}) {
    value = cursor.boolean();
  }
  static void read(const Cursor& cursor, double& value, const Limits& limits = {}) {
    value = number_from(cursor);
    if (value < limits.low || value > limits.high) {
      cursor.refuse(fmt::format("a number from {} to {}", limits.low, limits.high));
    }
  }
  static void read(const Cursor& cursor, Bytes& value, const Limits& = {}) {
    value.count = cursor.natural();
  }
  static void read(const Cursor& cursor, std::uint64_t& value, const Limits& = {}) {
    value = cursor.natural();
  }
  static void read(const Cursor& cursor, std::int64_t& value, const Limits& limits) {
    value = integer_from(cursor, limits.least, limits.most);
  }
  static void read(const Cursor& cursor, int& value, const Limits& limits) {
    const std::int64_t wide = integer_from(cursor, limits.least);
    if (wide > std::numeric_limits<int>::max()) cursor.refuse("an integer below 2^31");
    value = static_cast<int>(wide);
  }

 private:
  template <typename Class, typename Member>
  static void read_field(const Cursor& found, const Field<Class, Member>& field, Class& object) {
    if (found.is_missing() && field.is_optional) return;
    read(found, object.*field.member, field.limits);
  }
  template <typename Value, typename Class>
  static void read_field(const Cursor&, const Fixed<Value>&, Class&) {}  // expect_known_schema()
};

/// Another document of clprobe, and its purpose.
struct OtherDocument {
  std::string_view schema;
  std::string_view what;
};
constexpr std::array other_documents{
    OtherDocument{"clprobe-survey",
                  "a survey of a program's kernels (profile --list), which no command reads; "
                  "profile without --list writes runs"},
    OtherDocument{"clprobe-launch",
                  "a launch of a kernel, not a run: `clprobe profile FOLDER` replays it"},
};

void refuse_other_document(std::string_view schema) {
  for (const OtherDocument& each : other_documents) {
    if (each.schema == schema) throw RunFormatError(fmt::format("it is {}", each.what));
  }
}

// This check comes first: the keys of another schema or of a newer version would be refused one by
// one, with messages that hide the cause.
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

// Reports and analyses compare these pairwise, or walk through all points for each. Runs have at
// most some twenty series and fifty names; without a limit a file of some MB would take hours. All
// cases of gsi on a simulated device make 10,507 findings and 1,749 names.
constexpr std::size_t max_results = 64;
constexpr std::size_t max_series = 256;
constexpr std::size_t max_names = 4096;
constexpr std::size_t max_findings = 32768;

/// Returns the limit that a result exceeds; empty if it exceeds none.
std::string exceeded_limit(const ProbeResult& result) {
  std::set<std::string_view> series;
  std::set<std::string_view> names;
  for (const Point& point : result.points) {
    series.insert(point.series);
    for (const Parameters* const each : {&point.parameters, &point.facts}) {
      for (const auto& [name, value] : *each) names.insert(name);
    }
    if (series.size() > max_series) return fmt::format("points of at most {} series", max_series);
    if (names.size() > max_names) return fmt::format("points with at most {} names", max_names);
  }
  if (result.findings.size() <= max_findings) return {};
  return fmt::format("at most {} findings", max_findings);
}

/// Refuses too many results, too large ones, and two of one probe: those would be two answers to
/// one question.
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
  if (document.is_array()) return json::read_each(root, json::read_run);
  if (!document.is_object()) root.refuse("a run (an object) or an array of runs");
  return {json::read_run(root)};
}

}  // namespace clprobe
