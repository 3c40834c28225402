// SPDX-License-Identifier: Apache-2.0
// Typed reading of a JSON value that knows where in the document it is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::json {

using Json = nlohmann::ordered_json;

/// A step to a key, as it appears in a path: ".key", or ["k\ney"] when the key is no plain word.
std::string path_step(std::string_view key);

/// A value, or the place where one is missing. The way there is a chain of parents, and becomes
/// text only for an error: a run has ten thousand values. A cursor must not outlive its parent.
class Cursor {
 public:
  explicit Cursor(const Json& value) : value_(&value) {}
  Cursor(const Cursor& parent, std::string_view key);
  Cursor(const Cursor& parent, std::size_t index);

  [[nodiscard]] bool is_missing() const { return value_ == nullptr; }
  /// Throws when this is no object, also where it has a key that is not among `known`.
  void expect_object(std::initializer_list<std::string_view> known) const;
  [[nodiscard]] std::uint64_t natural() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::int64_t integer_from(std::int64_t least) const;
  [[nodiscard]] double number() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const Json& array() const;
  [[nodiscard]] const Json& object() const;

  /// Throws RunFormatError: "results[0].points[3].samples: expected an array, found nothing".
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  [[nodiscard]] std::string path() const;

  const Json* value_;
  const Cursor* parent_{nullptr};
  std::string_view key_{};  // used when the parent is an object
  std::size_t index_{0};    // used when it is an array
};

/// Every element of an array, read by `read(Cursor)`.
template <typename Read>
auto read_each(const Cursor& array, Read read) {
  std::vector<decltype(read(array))> values;
  const std::size_t count = array.array().size();
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) values.push_back(read(Cursor(array, i)));
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
