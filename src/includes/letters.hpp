// SPDX-License-Identifier: Apache-2.0
// What single characters of OpenCL C are.
#pragma once

#include <cstddef>
#include <string_view>

namespace clprobe::includes {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Bytes beyond ASCII are letters.
inline bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
inline bool continues_word(char c) { return starts_word(c) || is_digit(c); }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The word that the text begins with; empty where it begins with none.
inline std::string_view first_word(std::string_view text) {
  if (text.empty() || !starts_word(text.front())) return {};
  std::size_t size = 1;
  while (size < text.size() && continues_word(text[size])) ++size;
  return text.substr(0, size);
}

}  // namespace clprobe::includes
