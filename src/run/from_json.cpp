// SPDX-License-Identifier: Apache-2.0
// The run document, read. Strict: a run file is evidence, and a key that is skipped or a value that
// is guessed would make it say something else than was measured. Its keys are listed in fields.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "run/fast_cursor.hpp"
#include "run/fields.hpp"
#include "run/json.hpp"
#include "run/version_1.hpp"

namespace clprobe::json {
namespace {

/// The enumerator that a word stands for.
template <typename Enum, typename AnyCursor>
Enum read_word(const AnyCursor& word) {
  const std::optional<Enum> value = from_word<Enum>(word.text());
  if (!value) word.refuse(fmt::format("one of {}", fmt::join(all_words<Enum>(), ", ")));
  return *value;
}

/// Every element of an array, read by `read(cursor)`.
template <typename AnyCursor, typename Read>
auto read_each(const AnyCursor& array, Read read) {
  std::vector<decltype(read(array))> values;
  values.reserve(array.size_hint());
  array.for_each_element([&](const AnyCursor& each) { values.push_back(read(each)); });
  return values;
}

template <typename AnyCursor>
std::int64_t integer_from(const AnyCursor& number, std::int64_t least,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const std::int64_t value = number.integer();
  if (value < least) number.refuse(fmt::format("an integer from {}", least));
  if (value > most) number.refuse(fmt::format("an integer up to {}", most));
  return value;
}

/// A number that a quantity of a device can be: what is made of it then stays finite.
template <typename AnyCursor>
double number_from(const AnyCursor& cursor) {
  const double value = cursor.number();
  if (!is_sane(value)) {
    cursor.refuse(fmt::format("0 or a magnitude from {} to {}", min_magnitude, max_magnitude));
  }
  return value;
}

/// Longer texts are cut: whatever shows one takes a hundred times its memory. Drivers' lists of
/// extensions have some hundred bytes, a few thousand at most.
template <typename AnyCursor>
std::string text_from(const AnyCursor& cursor) {
  constexpr std::size_t max_bytes = std::size_t{1} << 14U;
  std::string text = cursor.text();
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

template <typename AnyCursor>
Value read_named(const AnyCursor& cursor) {
  if (cursor.is_text()) return text_from(cursor);
  if (cursor.is_whole()) return cursor.integer();
  if (cursor.is_number()) return number_from(cursor);
  cursor.refuse("a number or a string");
}

/// Reads a document of one version, with either cursor.
template <typename AnyCursor>
class Reader {
 public:
  explicit Reader(int version) : version_(version) {}

  /// The members of an object, each by its type. `limits` are for numbers alone.
  template <HasFields T>
  void read(const AnyCursor& cursor, T& object, const Limits& = {}) const {
    const auto found = cursor.members(keys_of<T>);
    std::size_t place = 0;
    for_each_field<T>([&](const auto& field) { read_field(found[place++], field, object); });
  }
  template <typename T>
  void read(const AnyCursor& cursor, std::vector<T>& values, const Limits& = {}) const {
    values = read_each(cursor, [&](const AnyCursor& each) {
      T value{};
      read(each, value);
      return value;
    });
  }
  template <typename T>
  void read(const AnyCursor& cursor, std::optional<T>& value, const Limits& limits = {}) const {
    read(cursor, value.emplace(), limits);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void read(const AnyCursor& cursor, Enum& value, const Limits& = {}) const {
    value = read_word<Enum>(cursor);
  }
  void read(const AnyCursor& cursor, Unit& value, const Limits& = {}) const {
    value = version_ == 1 ? unit_of_quantity(cursor.text()) : read_word<Unit>(cursor);
  }
  void read(const AnyCursor& cursor, Parameters& parameters, const Limits& = {}) const {
    std::vector<std::pair<std::string, Value>> entries;
    std::vector<std::string_view> names;
    cursor.for_each_member([&](std::string_view name, const AnyCursor& value) {
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
  void read(const AnyCursor& cursor, std::string& value, const Limits& = {}) const {
    value = text_from(cursor);
  }
  void read(const AnyCursor& cursor, bool& value, const Limits& = {}) const {
    value = cursor.boolean();
  }
  void read(const AnyCursor& cursor, double& value, const Limits& limits = {}) const {
    value = number_from(cursor);
    if (value < limits.low || value > limits.high) {
      cursor.refuse(fmt::format("a number from {} to {}", limits.low, limits.high));
    }
  }
  void read(const AnyCursor& cursor, Bytes& value, const Limits& = {}) const {
    value.count = cursor.natural();
  }
  void read(const AnyCursor& cursor, std::uint64_t& value, const Limits& = {}) const {
    value = cursor.natural();
  }
  void read(const AnyCursor& cursor, std::int64_t& value, const Limits& limits) const {
    value = integer_from(cursor, limits.least, limits.most);
  }
  void read(const AnyCursor& cursor, int& value, const Limits& limits) const {
    const std::int64_t wide = integer_from(cursor, limits.least);
    if (wide > std::numeric_limits<int>::max()) cursor.refuse("an integer below 2^31");
    value = static_cast<int>(wide);
  }

 private:
  template <typename Class, typename Member>
  void read_field(const AnyCursor& found, const Field<Class, Member>& field, Class& object) const {
    if (!field.is_in(version_)) {
      if (!found.is_missing()) found.refuse("no key of this name");
      return;
    }
    if (found.is_missing()) {
      if (field.is_optional) return;
      if (version_ == 1 && field.if_missing != nullptr) return field.if_missing(object);
    }
    read(found, object.*field.member, field.limits);
  }
  template <typename Value, typename Class>
  void read_field(const AnyCursor&, const Fixed<Value>&, Class&) const {}  // expect_known_schema()

  int version_;
};

/// What else clprobe writes, and what it is for.
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

// Before anything else is looked at: the keys of another schema, or of a newer version of this one,
// would be refused one by one with messages that hide the cause.
template <typename AnyCursor>
int expect_known_schema(const AnyCursor& cursor) {
  cursor.expect_any_object();
  const AnyCursor name(cursor, "schema");
  if (name.is_missing()) {
    name.refuse(
        "\"clprobe-run\", as in every run of clprobe (`clprobe import` reads other tools' files)");
  }
  refuse_other_document(name.text());
  if (name.text() != run_schema_name) name.refuse(fmt::format("\"{}\"", run_schema_name));
  const AnyCursor version(cursor, "schema_version");
  const std::int64_t number = integer_from(version, 1);
  if (number > run_schema_version) {
    version.refuse(fmt::format("at most {} (a newer clprobe wrote this file)", run_schema_version));
  }
  return static_cast<int>(number);
}

// What reports and analyses go through pairwise, or through all points for each of. Runs have at
// most some twenty series and fifty names; without a limit a file of some MB would take hours. Bars
// of parts of simulated kernels are many: of all cases of gsi 10,507 findings and 1,749 names.
constexpr std::size_t max_results = 64;
constexpr std::size_t max_series = 256;
constexpr std::size_t max_names = 4096;
constexpr std::size_t max_findings = 32768;

bool have_equal_names(const Parameters& a, const Parameters& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& one, const auto& other) { return one.first == other.first; });
}

/// What of a result is too many; empty where nothing is.
std::string crowd_in(const ProbeResult& result) {
  std::set<std::string_view> series;
  std::set<std::string_view> names;
  const Point* before = nullptr;
  for (const Point& point : result.points) {
    // Most points have what the one before has: to seek it again would cost as much as reading.
    if (before == nullptr || before->series != point.series) series.insert(point.series);
    const bool has_same_names = before != nullptr &&
                                have_equal_names(before->parameters, point.parameters) &&
                                have_equal_names(before->facts, point.facts);
    before = &point;
    if (!has_same_names) {
      for (const Parameters* const each : {&point.parameters, &point.facts}) {
        for (const auto& [name, value] : *each) names.insert(name);
      }
    }
    if (series.size() > max_series) return fmt::format("points of at most {} series", max_series);
    if (names.size() > max_names) return fmt::format("points with at most {} names", max_names);
  }
  if (result.findings.size() <= max_findings) return {};
  return fmt::format("at most {} findings", max_findings);
}

template <typename AnyCursor>
void expect_no_crowds(const AnyCursor& cursor, const Run& run) {
  const AnyCursor results(cursor, "results");
  if (run.results.size() > max_results) {
    results.refuse(fmt::format("at most {} results", max_results));
  }
  std::size_t i = 0;
  results.for_each_element([&](const AnyCursor& each) {
    const std::string crowd = crowd_in(run.results[i++]);
    if (!crowd.empty()) each.refuse(crowd);
  });
}

/// Two results of one probe would be two answers to one question, and a reader takes either.
template <typename AnyCursor>
void expect_each_probe_once(const AnyCursor& cursor, const Run& run) {
  std::set<std::string_view> seen;
  const auto second =
      std::find_if(run.results.begin(), run.results.end(),
                   [&](const ProbeResult& each) { return !seen.insert(each.probe).second; });
  std::ptrdiff_t left = second - run.results.begin();
  if (second == run.results.end()) return;
  AnyCursor(cursor, "results").for_each_element([&](const AnyCursor& each) {
    if (left-- == 0) AnyCursor(each, "probe").refuse("each probe only once");
  });
}

template <typename AnyCursor>
Run read_run(const AnyCursor& cursor) {
  const int version = expect_known_schema(cursor);
  Run run;
  Reader<AnyCursor>(version).read(cursor, run);
  expect_each_probe_once(cursor, run);
  expect_no_crowds(cursor, run);
  if (version == 1) upgrade_version_1(run);
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
    Reader<Cursor>(run_schema_version).read(root, decoded);
    return decoded;
  }
}

template Parameters decode(const Json&);
template Sample decode(const Json&);
template Point decode(const Json&);
template Warning decode(const Json&);
template DeviceInfo decode(const Json&);
template Clock decode(const Json&);
template PreparedPoint decode(const Json&);
template Sampling decode(const Json&);
template Run decode(const Json&);

}  // namespace clprobe::json

namespace clprobe {

namespace {

/// What simdjson and the typed reader accept without a doubt; nothing where either has one.
std::optional<std::vector<Run>> runs_from_good_json(std::string_view text) {
  // Kept by each thread: of a thousand small files, to get new pages for each costs as much as to
  // read it. What a large one needs, some twelve bytes a character, is given back.
  constexpr std::size_t kept_bytes = std::size_t{16} << 20U;
  thread_local simdjson::dom::parser kept;
  simdjson::dom::parser large;
  simdjson::dom::parser& parser = text.size() > kept_bytes ? large : kept;
  simdjson::dom::element document;
  const bool has_room =
      parser.capacity() >= text.size() && parser.max_depth() == json::deepest_nesting;
  if ((!has_room && parser.allocate(text.size(), json::deepest_nesting) != simdjson::SUCCESS) ||
      parser.parse(text.data(), text.size()).get(document) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  try {
    const json::FastCursor root(document);
    if (document.is_array()) return json::read_each(root, json::read_run<json::FastCursor>);
    std::vector<Run> runs;
    runs.push_back(json::read_run(root));
    return runs;
  } catch (const json::Doubt&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Run> runs_from_json(std::string_view text) {
  // A document that is refused is read twice; the second time says why.
  if (std::optional<std::vector<Run>> runs = runs_from_good_json(text)) return std::move(*runs);
  const json::Json document = json::parse(text);
  const json::Cursor root(document);
  if (!document.is_array()) {
    if (!document.is_object()) root.refuse("a run (an object) or an array of runs");
    return {json::decode<Run>(document)};
  }
  return json::read_each(root, json::read_run<json::Cursor>);
}

}  // namespace clprobe
