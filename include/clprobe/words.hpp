// SPDX-License-Identifier: Apache-2.0
// Words of enumerations: one table per enumeration, beside it, that both directions read.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace clprobe {

template <typename Enum>
struct Word {
  Enum value;
  std::string_view word;
};
// Clang 14 deduces no aggregates without a guide.
template <typename Enum>
Word(Enum, const char*) -> Word<Enum>;

/// The word of `value`; empty where the table has none.
template <typename Table, typename Enum>
constexpr std::string_view word_in(const Table& table, Enum value) {
  for (const auto& each : table) {
    if (each.value == value) return each.word;
  }
  return {};
}

/// The value of `word`; nothing where the table has none.
template <typename Table>
auto value_in(const Table& table, std::string_view word)
    -> std::optional<decltype(std::begin(table)->value)> {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const auto& each) { return each.word == word; });
  if (found == std::end(table)) return std::nullopt;
  return found->value;
}

}  // namespace clprobe
