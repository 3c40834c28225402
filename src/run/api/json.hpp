// SPDX-License-Identifier: Apache-2.0
// JSON values of run documents. The protocol of the worker process uses the same values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe::json {

using Json = nlohmann::ordered_json;

/// Maximum number of members of an object. The largest object of a run, the driver's report, has
/// about 60 members. nlohmann's ordered object searches all members for each new key, so that
/// writing a million members would take hours.
inline constexpr std::size_t max_members = 4096;

/// Returns the text that a key adds to a path: ".key", or ["k\ney"] if the key is not a plain word.
std::string path_step(std::string_view key);

/// A JSON value and its path. The value may be missing. The path is a chain of parents and is
/// formatted only for an error message. A cursor must not outlive its parent, value or key.
class Cursor {
 public:
  Cursor() = default;  ///< a missing value without a path
  explicit Cursor(const Json& value) : value_(&value) {}
  Cursor(const Cursor& parent, std::string_view key);

  [[nodiscard]] bool is_missing() const { return value_ == nullptr; }
  [[nodiscard]] bool is_text() const { return value_ != nullptr && value_->is_string(); }
  [[nodiscard]] bool is_whole() const { return value_ != nullptr && value_->is_number_integer(); }
  [[nodiscard]] bool is_number() const { return value_ != nullptr && value_->is_number(); }
  void expect_any_object() const { static_cast<void>(object()); }
  /// Returns a cursor for each of `keys`; a missing member gives a missing value. Throws
  /// RunFormatError if the value is not an object or has other members.
  template <std::size_t count>
  [[nodiscard]] std::array<Cursor, count> members(
      const std::array<std::string_view, count>& keys) const;
  [[nodiscard]] std::uint64_t natural() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string text() const;

  /// Calls `visit(key, cursor)` for each member of an object, in the order of the text.
  template <typename Visit>
  void for_each_member(Visit visit) const;
  /// Calls `visit(cursor)` for each element of an array.
  template <typename Visit>
  void for_each_element(Visit visit) const;
  /// Returns the number of elements of an array; 0 for other values.
  [[nodiscard]] std::size_t size_hint() const;

  /// Throws RunFormatError with the path and the value: "results[0].points[3].samples: expected an
  /// array, found nothing".
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  Cursor(const Cursor& parent, std::string_view key, const Json& value)
      : value_(&value), parent_(&parent), key_(key) {}
  Cursor(const Cursor& parent, std::size_t index, const Json& value)
      : value_(&value), parent_(&parent), index_(index) {}

  [[nodiscard]] std::string path() const;
  [[nodiscard]] const Json& array() const;
  [[nodiscard]] const Json& object() const;

  const Json* value_{nullptr};
  const Cursor* parent_{nullptr};
  std::string_view key_{};  // key of the value, for members of an object
  std::size_t index_{0};    // index of the value, for elements of an array
};

template <typename Visit>
void Cursor::for_each_member(Visit visit) const {
  for (const auto& item : object().items()) {
    visit(std::string_view(item.key()), Cursor(*this, item.key(), item.value()));
  }
}

template <typename Visit>
void Cursor::for_each_element(Visit visit) const {
  std::size_t index = 0;
  for (const Json& each : array()) visit(Cursor(*this, index++, each));
}

template <std::size_t count>
std::array<Cursor, count> Cursor::members(const std::array<std::string_view, count>& keys) const {
  for_each_member([&](std::string_view key, const Cursor& value) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      value.refuse("no key of this name");
    }
  });
  std::array<Cursor, count> found;
  for (std::size_t i = 0; i < count; ++i) found[i] = Cursor(*this, keys[i]);
  return found;
}

/// Returns a part of a document as JSON. Throws std::invalid_argument if a number is not finite.
template <typename T>
Json encode(const T& value);

/// Returns the value that `encode` wrote as JSON. Throws RunFormatError with the path within
/// `value`.
template <typename T>
T decode(const Json& value);

/// Maximum nesting of a document. An array of runs needs 8 levels of nesting.
inline constexpr std::size_t deepest_nesting = 16;

/// Returns the parsed text. Throws RunFormatError for invalid or truncated JSON, a repeated key, an
/// object of over `max_members` keys, over `deepest_nesting` levels, or a number out of range.
Json parse(std::string_view text);

/// Returns the value as one line of ASCII, so that a driver's string cannot send an escape sequence
/// to a terminal. Invalid UTF-8 becomes U+FFFD.
std::string one_line(const Json& value);

/// Returns the value as lines of ASCII that end with a newline. A value that fits on one line is
/// not split, so that diffs show whole samples.
std::string many_lines(const Json& value);

}  // namespace clprobe::json
