// SPDX-License-Identifier: Apache-2.0
#include "report/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace clprobe::report {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Combining marks and joiners of the scripts that device names use; not all of Unicode.
constexpr std::array no_column{Range{0x0300, 0x036F}, Range{0x1AB0, 0x1AFF}, Range{0x20D0, 0x20FF},
                               Range{0x200B, 0x200D}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};
constexpr std::array two_columns{
    Range{0x1100, 0x115F},   Range{0x2E80, 0xA4CF},  Range{0xAC00, 0xD7A3}, Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},  Range{0xFFE0, 0xFFE6}, Range{0x1F300, 0x1F64F},
    Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};
// C0, DEL and C1; marks and overrides of direction; line and paragraph separators; BOM.
constexpr std::array not_shown{Range{0x0000, 0x001F}, Range{0x007F, 0x009F},  Range{0x061C, 0x061C},
                               Range{0x200E, 0x200F}, Range{0x2028, 0x202E},  Range{0x2066, 0x2069},
                               Range{0xFEFF, 0xFEFF}, Range{0xE0000, 0xE007F}};

constexpr char32_t no_character = 0xFFFFFFFF;

struct Character {
  char32_t code{no_character};
  std::size_t bytes{1};
};

template <typename Ranges>
bool is_in(const Ranges& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

// The first character; `no_character` of one byte where the bytes are no UTF-8 (also overlong forms
// and surrogates).
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80U) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < bytes) return {};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (next & 0x3FU);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least.at(bytes) || code > 0x10FFFF || is_surrogate) return {};
  return {code, bytes};
}

int columns_of(char32_t code) {
  if (code < 0x0300) return 1;
  if (is_in(no_column, code)) return 0;
  return is_in(two_columns, code) ? 2 : 1;
}

std::string_view ascii_of(char32_t code) {
  struct Form {
    char32_t code;
    std::string_view ascii;
  };
  constexpr std::array forms{Form{U'±', "+-"},   Form{U'µ', "u"},   Form{U'μ', "u"},
                             Form{U'–', "-"},    Form{U'—', "-"},   Form{U'·', "-"},
                             Form{U'×', "x"},    Form{U'…', "..."}, Form{U'®', "(R)"},
                             Form{U'™', "(TM)"}, Form{U'≥', ">="},  Form{U'≤', "<="}};
  const auto* const found =
      std::find_if(forms.begin(), forms.end(), [&](const Form& form) { return form.code == code; });
  return found == forms.end() ? std::string_view("?") : found->ascii;
}

std::string make_printable(std::string_view text, bool is_ascii) {
  std::string shown;
  while (!text.empty()) {
    const Character character = first_character(text);
    const bool is_space =
        character.code == '\t' || character.code == '\n' || character.code == '\r';
    if (is_space) {
      shown += ' ';
    } else if (character.code == no_character || is_in(not_shown, character.code)) {
      shown += '?';
    } else if (is_ascii && character.code >= 0x80) {
      shown += ascii_of(character.code);
    } else {
      shown += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return shown;
}

// How many bytes of the text fill at most `width` columns.
std::size_t bytes_within(std::string_view text, int width) {
  std::size_t bytes = 0;
  int used = 0;
  while (bytes < text.size()) {
    const Character character = first_character(text.substr(bytes));
    used += columns_of(character.code);
    if (used > width) break;
    bytes += character.bytes;
  }
  return bytes;
}

std::string spaces(int count) {
  std::string text;
  text.resize(static_cast<std::size_t>(std::max(count, 0)), ' ');
  return text;
}

}  // namespace

std::string printable(std::string_view text) { return make_printable(text, false); }

std::string printable_ascii(std::string_view text) { return make_printable(text, true); }

int display_width(std::string_view utf8) {
  int width = 0;
  while (!utf8.empty()) {
    const Character character = first_character(utf8);
    width += columns_of(character.code);
    utf8.remove_prefix(character.bytes);
  }
  return width;
}

std::vector<std::string> characters(std::string_view utf8) {
  std::vector<std::string> parts;
  while (!utf8.empty()) {
    const Character character = first_character(utf8);
    if (parts.empty() || columns_of(character.code) > 0) parts.emplace_back();
    parts.back() += utf8.substr(0, character.bytes);
    utf8.remove_prefix(character.bytes);
  }
  return parts;
}

std::string cut(std::string_view utf8, int width, std::string_view mark) {
  if (display_width(utf8) <= width) return std::string(utf8);
  const int room = width - display_width(mark);
  if (room <= 0) return std::string(utf8.substr(0, bytes_within(utf8, width)));
  return std::string(utf8.substr(0, bytes_within(utf8, room))).append(mark);
}

std::string pad_left(std::string_view utf8, int width) {
  return spaces(width - display_width(utf8)).append(utf8);
}

std::string pad_right(std::string_view utf8, int width) {
  return std::string(utf8) + spaces(width - display_width(utf8));
}

std::vector<std::string> wrap(std::string_view utf8, int width) {
  std::vector<std::string> lines;
  const int room = std::max(width, 2);  // a wide character has to fit
  while (!utf8.empty()) {
    std::size_t taken = bytes_within(utf8, room);
    std::size_t next = taken;
    if (taken < utf8.size()) {
      const std::size_t space = utf8.rfind(' ', taken);
      if (space != std::string_view::npos && space > 0) taken = next = space;
    }
    lines.emplace_back(utf8.substr(0, taken));
    while (next < utf8.size() && utf8[next] == ' ') ++next;
    utf8.remove_prefix(next);
  }
  return lines;
}

}  // namespace clprobe::report
