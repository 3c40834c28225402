// SPDX-License-Identifier: Apache-2.0
// The run document, read. Strict: a run file is evidence, and a key that is skipped or a value that
// is guessed would make it say something else than was measured. Its keys are listed in fields.hpp.
#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>

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
std::int64_t integer_from(const AnyCursor& number, std::int64_t least) {
  const std::int64_t value = number.integer();
  if (value < least) number.refuse(fmt::format("an integer from {}", least));
  return value;
}

template <typename AnyCursor>
Value read_named(const AnyCursor& cursor) {
  if (cursor.is_text()) return cursor.text();
  if (cursor.is_whole()) return cursor.integer();
  if (cursor.is_number()) return cursor.number();
  cursor.refuse("a number or a string");
}

/// Reads a document of one version, with either cursor.
template <typename AnyCursor>
class Reader {
 public:
  explicit Reader(int version) : version_(version) {}

  /// The members of an object, each by its type. `least` is for signed integers alone.
  template <HasFields T>
  void read(const AnyCursor& cursor, T& object, int = 0) const {
    const auto found = cursor.members(keys_of<T>);
    std::size_t place = 0;
    for_each_field<T>([&](const auto& field) { read_field(found[place++], field, object); });
  }
  template <typename T>
  void read(const AnyCursor& cursor, std::vector<T>& values, int = 0) const {
    values = read_each(cursor, [&](const AnyCursor& each) {
      T value{};
      read(each, value);
      return value;
    });
  }
  template <typename T>
  void read(const AnyCursor& cursor, std::optional<T>& value, int least = 0) const {
    read(cursor, value.emplace(), least);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void read(const AnyCursor& cursor, Enum& value, int = 0) const {
    value = read_word<Enum>(cursor);
  }
  void read(const AnyCursor& cursor, Unit& value, int = 0) const {
    value = version_ == 1 ? unit_of_quantity(cursor.text()) : read_word<Unit>(cursor);
  }
  void read(const AnyCursor& cursor, Parameters& parameters, int = 0) const {
    std::ptrdiff_t count = 0;
    cursor.for_each_member([&](std::string_view name, const AnyCursor& value) {
      parameters.set(name, read_named(value));
      if (parameters.end() - parameters.begin() != ++count) value.refuse("this key only once");
    });
  }
  void read(const AnyCursor& cursor, std::string& value, int = 0) const { value = cursor.text(); }
  void read(const AnyCursor& cursor, bool& value, int = 0) const { value = cursor.boolean(); }
  void read(const AnyCursor& cursor, double& value, int = 0) const { value = cursor.number(); }
  void read(const AnyCursor& cursor, Bytes& value, int = 0) const {
    value.count = cursor.natural();
  }
  void read(const AnyCursor& cursor, std::uint64_t& value, int = 0) const {
    value = cursor.natural();
  }
  void read(const AnyCursor& cursor, std::int64_t& value, int least) const {
    value = integer_from(cursor, least);
  }
  void read(const AnyCursor& cursor, int& value, int least) const {
    const std::int64_t wide = integer_from(cursor, least);
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
    read(found, object.*field.member, field.least);
  }
  template <typename Value, typename Class>
  void read_field(const AnyCursor&, const Fixed<Value>&, Class&) const {}  // expect_known_schema()

  int version_;
};

// Before anything else is looked at: the keys of another schema, or of a newer version of this one,
// would be refused one by one with messages that hide the cause.
template <typename AnyCursor>
int expect_known_schema(const AnyCursor& cursor) {
  cursor.expect_any_object();
  const AnyCursor name(cursor, "schema");
  if (name.text() != run_schema_name) name.refuse(fmt::format("\"{}\"", run_schema_name));
  const AnyCursor version(cursor, "schema_version");
  const std::int64_t number = integer_from(version, 1);
  if (number > run_schema_version) {
    version.refuse(fmt::format("at most {} (a newer clprobe wrote this file)", run_schema_version));
  }
  return static_cast<int>(number);
}

template <typename AnyCursor>
Run read_run(const AnyCursor& cursor) {
  const int version = expect_known_schema(cursor);
  Run run;
  Reader<AnyCursor>(version).read(cursor, run);
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
template Work decode(const Json&);
template Measurement decode(const Json&);
template Run decode(const Json&);

}  // namespace clprobe::json

namespace clprobe {

namespace {

/// What simdjson and the typed reader accept without a doubt; nothing where either has one.
std::optional<std::vector<Run>> runs_from_good_json(std::string_view text) {
  // Parsing needs eight bytes a character in advance: a hostile file is left to the slower one.
  constexpr std::size_t max_bytes = std::size_t{16} << 20U;
  if (text.size() > max_bytes) return std::nullopt;
  // Kept by each thread: of a thousand small files, to get new pages for each costs as much as to
  // read it.
  thread_local simdjson::dom::parser parser;
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
