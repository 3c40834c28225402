// SPDX-License-Identifier: Apache-2.0
#include "terminal/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace clprobe::terminal {
namespace {

struct CodePoint {
  char32_t value{};
  std::size_t size_bytes{1};
  bool is_valid{false};
};

// The least code point that needs so many bytes: a longer form than needed is no UTF-8 (RFC 3629).
constexpr std::array<char32_t, 5> least_of_size{0, 0, 0x80, 0x800, 0x10000};

CodePoint decode_first(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  char32_t value = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (next & 0x3FU);
  }
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least_of_size[size] || value > 0x10FFFF || is_surrogate) return {};
  return {value, size, true};
}

struct Range {
  char32_t first;
  char32_t last;
};

// Marks that are drawn onto the character before them, and characters without a shape.
constexpr std::array zero_width{Range{0x0300, 0x036F}, Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},
                                Range{0x200B, 0x200F}, Range{0x202A, 0x202E}, Range{0x2060, 0x2064},
                                Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
                                Range{0xFEFF, 0xFEFF}};

// The wide and full-width blocks of Unicode's East Asian Width (UAX #11), and emoji.
constexpr std::array double_width{
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
    Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
    Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

template <std::size_t size>
bool contains(const std::array<Range, size>& ranges, char32_t value) {
  return std::any_of(ranges.begin(), ranges.end(), [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

bool is_control(char32_t value) {
  const bool is_line_end = value == 0x2028 || value == 0x2029;
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || is_line_end;
}

int columns_of(const CodePoint& point) {
  if (!point.is_valid) return 1;
  if (contains(zero_width, point.value)) return 0;
  return contains(double_width, point.value) ? 2 : 1;
}

}  // namespace

int display_width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const CodePoint point = decode_first(text);
    columns += columns_of(point);
    text.remove_prefix(point.size_bytes);
  }
  return columns;
}

std::string cut_to_width(std::string_view text, int columns) {
  std::string kept;
  while (!text.empty()) {
    const CodePoint point = decode_first(text);
    columns -= columns_of(point);
    if (columns < 0) break;
    const bool is_shown = point.is_valid && !is_control(point.value);
    kept += is_shown ? text.substr(0, point.size_bytes) : std::string_view{"?"};
    text.remove_prefix(point.size_bytes);
  }
  return kept;
}

std::string quote(std::string_view word) {
  // Enough to recognise what was typed; a message should still fit on a screen.
  constexpr std::size_t most_bytes = 120;
  std::string shown = "'";
  while (!word.empty() && shown.size() < most_bytes) {
    const CodePoint point = decode_first(word);
    const std::string_view bytes = word.substr(0, point.size_bytes);
    if (point.is_valid && !is_control(point.value)) {
      shown += bytes;
    } else {
      for (const char byte : bytes) {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    word.remove_prefix(point.size_bytes);
  }
  return shown + (word.empty() ? "'" : "...'");
}

}  // namespace clprobe::terminal
