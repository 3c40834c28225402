// SPDX-License-Identifier: Apache-2.0
// Options whose values are words, with offers and typed values by the table of the enumeration
// (clprobe/words.hpp). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/words.hpp"

namespace clprobe {

/// The words of a table, in its order, for a Choice or Choices.
template <typename Table>
constexpr auto words_of_table(const Table& table) {
  std::array<std::string_view, sizeof(Table) / sizeof(table[0])> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = table[i].word;
  return words;
}

/// The values of the words that were typed for a Choices. The command line refuses any other word.
template <typename Table>
auto values_in(const Table& table, const std::vector<std::string>& words) {
  std::vector<decltype(std::begin(table)->value)> values;
  for (const std::string& word : words) {
    if (const auto value = value_in(table, word)) values.push_back(*value);
  }
  return values;
}

/// Returns the numbers of words that are numbers.
inline std::vector<int> numbers_in(const std::vector<std::string>& words) {
  std::vector<int> numbers;
  numbers.reserve(words.size());
  for (const std::string& word : words) numbers.push_back(std::stoi(word));
  return numbers;
}

}  // namespace clprobe
