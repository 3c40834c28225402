// SPDX-License-Identifier: Apache-2.0
// Named values, in insertion order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace clprobe {

/// Value of a parameter, a fact or a reported attribute.
using Value = std::variant<std::int64_t, double, std::string>;

class Parameters {
 public:
  Parameters() = default;
  Parameters(std::initializer_list<std::pair<std::string, Value>> entries) : entries_(entries) {}

  /// Stores `entries`, whose names must differ from each other.
  explicit Parameters(std::vector<std::pair<std::string, Value>> entries)
      : entries_(std::move(entries)) {}

  /// Replaces the value of `name`, or appends a new value.
  void set(std::string_view name, Value value);
  [[nodiscard]] const Value* find(std::string_view name) const;
  /// Returns the integer called `name`. Throws std::out_of_range without such an integer.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  /// Returns the integer called `name`, or `fallback` without such an integer.
  [[nodiscard]] std::int64_t integer_or(std::string_view name, std::int64_t fallback) const;
  /// Returns the text called `name`. Throws std::out_of_range without such a text.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// Returns the text called `name`, or `fallback` without such a text.
  [[nodiscard]] std::string text_or(std::string_view name, std::string_view fallback) const;

  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  friend bool operator==(const Parameters&, const Parameters&) = default;

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

}  // namespace clprobe
