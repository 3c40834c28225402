// SPDX-License-Identifier: Apache-2.0
// Lists of fields. One list per type defines the reader and the writer of the type's JSON object.
// The writer keeps the order of the list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "clprobe/parameters.hpp"
#include "clprobe/units.hpp"
#include "clprobe/words.hpp"
#include "run/api/json.hpp"

namespace clprobe::json {

/// Range of a number, ends included: `least` to `most` for integers, `low` to `high` for other
/// numbers. A natural number without a `most` has no upper limit.
struct Limits {
  int least{0};
  std::int64_t most{std::numeric_limits<std::int64_t>::max()};
  double low{-max_magnitude};
  double high{max_magnitude};
};

/// A key of a JSON object, and the member that stores its value. The writer omits an optional key
/// if the member has its default value.
template <typename Class, typename Member>
struct Field {
  std::string_view key;
  Member Class::*member;
  bool is_optional{false};
  Limits limits{};

  [[nodiscard]] constexpr Field from(int least, std::int64_t most = Limits{}.most) const {
    Field field = *this;
    field.limits.least = least;
    field.limits.most = most;
    return field;
  }
  [[nodiscard]] constexpr Field between(double low, double high) const {
    Field field = *this;
    field.limits.low = low;
    field.limits.high = high;
    return field;
  }
};

template <typename Class, typename Member>
constexpr Field<Class, Member> always(std::string_view key, Member Class::*member) {
  return {.key = key, .member = member};
}

template <typename Class, typename Member>
constexpr Field<Class, Member> if_any(std::string_view key, Member Class::*member) {
  return {.key = key, .member = member, .is_optional = true};
}

/// A key with a constant value, which identifies the kind of document. Reader ignores the value,
/// since document.cpp checks the schema and its version before it reads a run.
template <typename Value>
struct Fixed {
  std::string_view key;
  Value value;
};
template <typename Value>
Fixed(const char*, Value) -> Fixed<Value>;

template <typename T>
inline constexpr bool is_fixed = false;
template <typename Value>
inline constexpr bool is_fixed<Fixed<Value>> = true;

/// Fields of a type. Each specialisation has a tuple `list`, and a `name` for the schema.
template <typename T>
struct Fields;

template <typename T>
concept HasFields = requires {
  Fields<T>::list;
};

template <typename T>
inline constexpr std::size_t field_count = std::tuple_size_v<decltype(Fields<T>::list)>;

template <typename T>
inline constexpr std::array<std::string_view, field_count<T>> keys_of =
    std::apply([](const auto&... each) { return std::array{each.key...}; }, Fields<T>::list);

/// Calls `visit(field)` for each field of a type, in the order of the list.
template <typename T, typename Visit>
constexpr void for_each_field(Visit visit) {
  std::apply([&](const auto&... each) { (visit(each), ...); }, Fields<T>::list);
}

/// Reader of values by their types. Its functions throw RunFormatError with the path and the
/// expected value.
class Reader {
 public:
  template <HasFields T>
  static void read(const Cursor& cursor, T& object, const Limits& = {}) {
    const auto found = cursor.members(keys_of<T>);
    std::size_t i = 0;
    for_each_field<T>([&](const auto& field) { read_field(found[i++], field, object); });
  }
  template <typename T>
  static void read(const Cursor& cursor, std::vector<T>& values, const Limits& = {}) {
    values.reserve(cursor.size_hint());
    cursor.for_each_element([&](const Cursor& each) { read(each, values.emplace_back()); });
  }
  template <typename T>
  static void read(const Cursor& cursor, std::optional<T>& value, const Limits& limits = {}) {
    read(cursor, value.emplace(), limits);
  }
  template <HasWords Enum>
  static void read(const Cursor& cursor, Enum& value, const Limits& = {}) {
    const std::optional<Enum> known = from_word<Enum>(cursor.text());
    if (!known) refuse_word(cursor, all_words<Enum>());
    value = *known;
  }
  static void read(const Cursor& cursor, Parameters& parameters, const Limits& = {});
  /// Reads a text, and truncates it to 16 KiB.
  static void read(const Cursor& cursor, std::string& value, const Limits& = {});
  static void read(const Cursor& cursor, bool& value, const Limits& = {});
  static void read(const Cursor& cursor, double& value, const Limits& limits = {});
  static void read(const Cursor& cursor, Bytes& value, const Limits& limits = {});
  static void read(const Cursor& cursor, std::uint64_t& value, const Limits& limits = {});
  static void read(const Cursor& cursor, std::int64_t& value, const Limits& limits = {});
  static void read(const Cursor& cursor, int& value, const Limits& limits = {});

 private:
  [[noreturn]] static void refuse_word(const Cursor& cursor,
                                       const std::vector<std::string_view>& words);
  template <typename Class, typename Member>
  static void read_field(const Cursor& found, const Field<Class, Member>& field, Class& object) {
    if (found.is_missing() && field.is_optional) return;
    read(found, object.*field.member, field.limits);
  }
  template <typename Value, typename Class>
  static void read_field(const Cursor&, const Fixed<Value>&, Class&) {}
};

/// Writer of values by their types. Its error messages name the `key`.
class Writer {
 public:
  template <typename T>
  static Json write(std::string_view key, const T& value) {
    if constexpr (HasFields<T>) {
      return write_fields(value);
    } else if constexpr (HasWords<T>) {
      return to_word(value);
    } else {
      static_cast<void>(key);
      return value;
    }
  }
  template <typename T>
  static Json write(std::string_view key, const std::optional<T>& value) {
    return value ? write(key, *value) : Json();
  }
  template <typename T>
  static Json write(std::string_view key, const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(write(key, value));
    return array;
  }
  /// Throws std::invalid_argument for a number that is not finite.
  static Json write(std::string_view key, double value);
  static Json write(std::string_view key, Bytes value);
  static Json write(std::string_view key, const Parameters& parameters);

 private:
  template <HasFields T>
  static Json write_fields(const T& object) {
    Json written = Json::object();
    for_each_field<T>([&](const auto& field) {
      if constexpr (is_fixed<std::decay_t<decltype(field)>>) {
        written[std::string(field.key)] = field.value;
      } else {
        const auto& value = object.*field.member;
        const bool is_left_out = field.is_optional && value == std::decay_t<decltype(value)>{};
        if (!is_left_out) written[std::string(field.key)] = write(field.key, value);
      }
    });
    return written;
  }
};

}  // namespace clprobe::json
