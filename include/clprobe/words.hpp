// SPDX-License-Identifier: Apache-2.0
// Words of enumerations. One table per enumeration, defined after the enumeration, serves both
// directions of conversion.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace clprobe {

template <typename Enum>
struct Word {
  Enum value;
  std::string_view word;
};
// Clang 14 needs a guide to deduce the template argument of an aggregate.
template <typename Enum>
Word(Enum, const char*) -> Word<Enum>;

/// Returns the word of `value`; empty if the table lacks `value`.
template <typename Table, typename Enum>
constexpr std::string_view word_in(const Table& table, Enum value) {
  for (const auto& each : table) {
    if (each.value == value) return each.word;
  }
  return {};
}

/// Returns the value of `word`; nothing if the table lacks `word`.
template <typename Table>
auto value_in(const Table& table, std::string_view word)
    -> std::optional<decltype(std::begin(table)->value)> {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const auto& each) { return each.word == word; });
  if (found == std::end(table)) return std::nullopt;
  return found->value;
}

/// Words of an enumeration in documents and reports. Each specialisation has an array `table`.
template <typename Enum>
struct EnumWords;

template <typename Enum>
concept HasWords = requires {
  EnumWords<Enum>::table;
};

template <HasWords Enum>
constexpr std::string_view to_word(Enum value) {
  return word_in(EnumWords<Enum>::table, value);
}

/// Returns the enumerator of a word; nothing for an unknown word.
template <HasWords Enum>
std::optional<Enum> from_word(std::string_view word) {
  return value_in(EnumWords<Enum>::table, word);
}

/// Returns all words of an enumeration, for messages that list the valid ones.
template <HasWords Enum>
std::vector<std::string_view> all_words() {
  std::vector<std::string_view> words;
  words.reserve(std::size(EnumWords<Enum>::table));
  for (const auto& each : EnumWords<Enum>::table) words.push_back(each.word);
  return words;
}

}  // namespace clprobe
