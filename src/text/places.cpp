// SPDX-License-Identifier: Apache-2.0
#include "text/api/secrets.hpp"

#include <algorithm>
#include <cstddef>

namespace clprobe {
namespace {

/// True for letters, digits and other characters inside of names; bytes of UTF-8 count as letters.
bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  return is_letter || (byte >= '0' && byte <= '9') || byte == '_' || byte >= 0x80;
}

/// True if the word between blanks around `at` is a path or an address.
bool is_in_path(std::string_view text, std::size_t at) {
  constexpr std::string_view blanks = " \t\n";
  const std::size_t before = text.find_last_of(blanks, at);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view word = text.substr(begin, text.find_first_of(blanks, at) - begin);
  return word.find_first_of("/\\@") != std::string_view::npos;
}

bool matches_at(std::string_view text, std::size_t at, const Place& place) {
  if (!text.substr(at).starts_with(place.path)) return false;
  const std::size_t end = at + place.path.size();
  const bool is_folder = place.path.front() == '/';
  if (end < text.size() && is_name_byte(text[end])) return false;
  // "/home/al" is not the beginning of "/home/al-2", but "alice" is a word of "/tmp/alice-cache".
  if (is_folder && end < text.size() && text[end] == '-') return false;
  const bool is_within = at > 0 && is_name_byte(text[at - 1]);
  // "-I/home/alice" has it, and "/mnt/home/alice" tells as much. "/opt/root" has nothing of
  // "/root".
  const bool is_deep = place.path.find('/', 1) != std::string::npos;
  return is_folder ? is_deep || !is_within : !is_within && is_in_path(text, at);
}

}  // namespace

std::string hide_places(std::string_view text, std::span<const Place> places) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Place* longest = nullptr;
    for (const Place& place : places) {
      // One letter is no secret, and "/" is everywhere.
      if (place.path.size() < 2 || !matches_at(text, at, place)) continue;
      if (longest == nullptr || place.path.size() > longest->path.size()) longest = &place;
    }
    if (longest == nullptr) {
      shown += text[at++];
    } else {
      shown += longest->shown;
      at += longest->path.size();
    }
  }
  return shown;
}

}  // namespace clprobe
