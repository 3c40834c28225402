// SPDX-License-Identifier: Apache-2.0
#include "survey/fields_text.hpp"

#include <array>
#include <charconv>

namespace clprobe::survey {
namespace {

// No line has more.
constexpr std::size_t max_fields = 21;

constexpr bool is_plain(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x20 && byte < 0x7f && letter != '\\';
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  char* const begin = digits.data();
  return {begin, std::to_chars(begin, begin + digits.size(), number, 16).ptr};
}

ProgramKind read_kind(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(ProgramKind::unknown); ++i) {
    if (to_word(static_cast<ProgramKind>(i)) == word) return static_cast<ProgramKind>(i);
  }
  throw FormatError("a survey has an unknown kind of program");
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string safe;
  for (const char letter : text) {
    if (is_plain(letter)) {
      safe += letter;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    safe += "\\x";
    safe += digits[byte >> 4U];
    safe += digits[byte & 0xfU];
  }
  return safe;
}

std::uint64_t read_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || rest != end) throw FormatError("a survey lacks a number");
  return number;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
      continue;
    }
    if (text.substr(i, 2) != "\\x" || i + 4 > text.size()) {
      throw FormatError("a survey has a backslash without a code");
    }
    plain += static_cast<char>(read_number(text.substr(i + 2, 2), 16));
    i += 3;
  }
  return plain;
}

Fields split(std::string_view line) {
  Fields fields;
  while (fields.size() < max_fields) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) break;
    line.remove_prefix(tab + 1);
  }
  return fields;
}

void check_count(const Fields& fields, std::size_t count) {
  if (fields.size() != count) throw FormatError("a survey has a line of the wrong length");
}

std::string signature_fields(const Signature& of) {
  std::string text = '\t' + hexadecimal(of.program.hash) + '\t' +
                     std::string(to_word(of.program.kind)) + '\t' + escaped(of.device) + '\t' +
                     std::to_string(of.dimensions);
  for (const Sizes& sizes : {of.global, of.local}) {
    for (const std::uint64_t size : sizes) text += '\t' + std::to_string(size);
  }
  return text;
}

Signature read_signature(const std::string& kernel, const Fields& fields, std::size_t& next) {
  Signature of{.kernel = kernel};
  of.program.hash = read_number(fields[next++], 16);
  of.program.kind = read_kind(fields[next++]);
  of.device = unescaped(fields[next++]);
  const std::uint64_t dimensions = read_number(fields[next++]);
  if (dimensions > 3) throw FormatError("a survey has a launch of more than three dimensions");
  of.dimensions = static_cast<std::uint32_t>(dimensions);
  for (Sizes* const sizes : {&of.global, &of.local}) {
    for (std::uint64_t& size : *sizes) size = read_number(fields[next++]);
  }
  return of;
}

}  // namespace clprobe::survey
