// SPDX-License-Identifier: Apache-2.0
// Typed reading of a JSON value that knows where in the document it is.
#pragma once

#include <simdjson.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::json {

using Json = nlohmann::ordered_json;

/// The largest object of a run is what its driver reported, with some sixty members. nlohmann's
/// parser looks through all members for each that it adds, so that a million would take hours.
inline constexpr std::size_t most_members = 4096;

/// A step to a key, as it appears in a path: ".key", or ["k\ney"] when the key is no plain word.
std::string path_step(std::string_view key);

/// A value, or the place where one is missing. The way there is a chain of parents, and becomes
/// text only for an error: a run has ten thousand values. A cursor must not outlive its parent.
///
/// The value is nlohmann's, or simdjson's, which parses ten times as fast but neither says where a
/// document is wrong nor sees that a key is repeated. Of those `refuse` throws a RunFormatError
/// that says nothing: the caller asks again with nlohmann's.
class Cursor {
 public:
  Cursor() = default;  ///< missing, and nobody knows where
  explicit Cursor(const Json& value) : value_(&value) {}
  explicit Cursor(simdjson::dom::element element) : element_(element), is_element_(true) {}
  Cursor(const Cursor& parent, std::string_view key);

  [[nodiscard]] bool is_missing() const { return value_ == nullptr && !is_element_; }
  [[nodiscard]] bool is_text() const;
  [[nodiscard]] bool is_whole() const;
  [[nodiscard]] bool is_number() const;
  void expect_any_object() const;
  /// Throws when this is no object, also where it has a key that is not among `known`.
  void expect_object(std::initializer_list<std::string_view> known) const;
  /// The members called `keys`, some of which may be missing, of an object that has no others. In
  /// one pass: a run has ten thousand samples, and to look for each key is most of reading them.
  template <std::size_t count>
  [[nodiscard]] std::array<Cursor, count> members(
      const std::array<std::string_view, count>& keys) const;
  [[nodiscard]] std::uint64_t natural() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::int64_t integer_from(std::int64_t least) const;
  [[nodiscard]] double number() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string text() const;

  /// Calls `visit(key, cursor)` for each member of an object, in the order of the text.
  template <typename Visit>
  void for_each_member(Visit visit) const;
  /// Calls `visit(cursor)` for each element of an array.
  template <typename Visit>
  void for_each_element(Visit visit) const;
  /// How many elements an array, or members an object, is known to have; 0 where that is not known.
  [[nodiscard]] std::size_t size_hint() const;

  /// Throws RunFormatError: "results[0].points[3].samples: expected an array, found nothing".
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  Cursor(const Cursor& parent, std::string_view key, const Json& value)
      : value_(&value), parent_(&parent), key_(key) {}
  Cursor(const Cursor& parent, std::size_t index, const Json& value)
      : value_(&value), parent_(&parent), index_(index) {}

  [[nodiscard]] std::string path() const;
  [[nodiscard]] const Json& array() const;
  [[nodiscard]] const Json& object() const;
  /// What simdjson found, or a refusal.
  template <typename T>
  [[nodiscard]] T got(simdjson::simdjson_result<T> result, std::string_view expected) const {
    T value{};
    if (std::move(result).get(value) != simdjson::SUCCESS) refuse(expected);
    return value;
  }

  const Json* value_{nullptr};
  simdjson::dom::element element_{};
  bool is_element_{false};
  const Cursor* parent_{nullptr};
  std::string_view key_{};  // used when the parent is an object
  std::size_t index_{0};    // used when it is an array
};

template <typename Visit>
void Cursor::for_each_member(Visit visit) const {
  if (is_element_) {
    const auto members = got(element_.get_object(), "an object");
    if (members.size() > most_members) refuse("fewer members");
    for (const auto field : members) {
      visit(field.key, Cursor(field.value));
    }
    return;
  }
  for (const auto& item : object().items()) {
    visit(std::string_view(item.key()), Cursor(*this, item.key(), item.value()));
  }
}

template <typename Visit>
void Cursor::for_each_element(Visit visit) const {
  if (is_element_) {
    for (const simdjson::dom::element each : got(element_.get_array(), "an array")) {
      visit(Cursor(each));
    }
    return;
  }
  std::size_t index = 0;
  for (const Json& each : array()) visit(Cursor(*this, index++, each));
}

template <std::size_t count>
std::array<Cursor, count> Cursor::members(const std::array<std::string_view, count>& keys) const {
  std::array<Cursor, count> found;
  if (!is_element_) {
    for_each_member([&](std::string_view key, const Cursor& value) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        value.refuse("no key of this name");
      }
    });
    for (std::size_t i = 0; i < count; ++i) found[i] = Cursor(*this, keys[i]);
    return found;
  }
  std::size_t next = 0;  // as clprobe writes them, keys come in the order in which they are known
  for_each_member([&](std::string_view key, const Cursor& value) {
    std::size_t place = next;
    while (place < count && keys[place] != key) ++place;
    if (place == count) {
      place = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    }
    if (place == count) value.refuse("no key of this name");
    if (found[place].is_element_) value.refuse("this key only once");
    found[place] = value;
    next = place + 1;
  });
  return found;
}

/// Every element of an array, read by `read(Cursor)`.
template <typename Read>
auto read_each(const Cursor& array, Read read) {
  std::vector<decltype(read(array))> values;
  values.reserve(array.size_hint());
  array.for_each_element([&](const Cursor& each) { values.push_back(read(each)); });
  return values;
}

/// The enumerator that a word stands for.
template <typename Enum>
Enum read_word(const Cursor& word) {
  const std::optional<Enum> value = from_word<Enum>(word.text());
  if (value) return *value;
  std::string expected = "one of";
  for (const std::string_view each : all_words<Enum>()) {
    expected.append(expected.ends_with("of") ? " " : ", ").append(each);
  }
  word.refuse(expected);
}

}  // namespace clprobe::json
