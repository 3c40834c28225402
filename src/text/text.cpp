// SPDX-License-Identifier: Apache-2.0
#include "text/api/text.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace clprobe {
namespace {

struct Character {
  [[nodiscard]] bool is_space() const { return code == '\t' || code == '\n' || code == '\r'; }

  /// True for a character or combining mark that is safe to show unchanged.
  [[nodiscard]] bool is_visible() const {
    if (!is_valid || utf8proc_get_property(code)->ignorable) return false;
    switch (utf8proc_category(code)) {
      case UTF8PROC_CATEGORY_CC:  // control characters: C0, DEL, C1
      case UTF8PROC_CATEGORY_CF:  // format characters: direction, joiners, tags, byte order mark
      case UTF8PROC_CATEGORY_CN:  // unassigned, of unknown width
      case UTF8PROC_CATEGORY_CS:
      case UTF8PROC_CATEGORY_ZL:
      case UTF8PROC_CATEGORY_ZP:
        return false;
      default:
        return true;
    }
  }

  [[nodiscard]] int width() const { return is_visible() ? utf8proc_charwidth(code) : 1; }

  utf8proc_int32_t code{-1};
  bool is_valid{false};
  std::string_view bytes{};
};

/// Removes the first character from `text`, or the first byte if `text` does not begin with valid
/// UTF-8, and returns it.
Character take_character(std::string_view& text) {
  std::array<utf8proc_uint8_t, 4> lead{};
  const std::size_t length = std::min(text.size(), lead.size());
  for (std::size_t i = 0; i < length; ++i) lead.at(i) = static_cast<utf8proc_uint8_t>(text[i]);
  Character character;
  const auto size =
      utf8proc_iterate(lead.data(), static_cast<utf8proc_ssize_t>(length), &character.code);
  character.is_valid = size > 0;
  character.bytes = text.substr(0, character.is_valid ? static_cast<std::size_t>(size) : 1);
  text.remove_prefix(character.bytes.size());
  return character;
}

std::string_view ascii_form(utf8proc_int32_t code) {
  struct Form {
    char32_t code;
    std::string_view ascii;
  };
  constexpr std::array forms{Form{U'±', "+-"},   Form{U'µ', "u"},   Form{U'μ', "u"},
                             Form{U'–', "-"},    Form{U'—', "-"},   Form{U'·', "-"},
                             Form{U'×', "x"},    Form{U'…', "..."}, Form{U'®', "(R)"},
                             Form{U'™', "(TM)"}, Form{U'≥', ">="},  Form{U'≤', "<="}};
  const auto* const found = std::ranges::find_if(
      forms, [&](const Form& form) { return form.code == static_cast<char32_t>(code); });
  return found == forms.end() ? std::string_view("?") : found->ascii;
}

std::size_t bytes_within(std::string_view text, int width) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t left = rest.size();
    width -= take_character(rest).width();
    if (width < 0) return text.size() - left;
  }
  return text.size();
}

std::string spaces(int count) {
  std::string text;
  text.resize(static_cast<std::size_t>(std::max(count, 0)), ' ');
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character character = take_character(text);
    const std::string_view otherwise = character.is_space() ? " " : "?";
    shown += character.is_visible() ? character.bytes : otherwise;
  }
  return shown;
}

std::string printable_ascii(std::string_view text) {
  const std::string all = printable(text);
  std::string shown;
  for (std::string_view rest = all; !rest.empty();) {
    const Character character = take_character(rest);
    shown += character.code < 0x80 ? character.bytes : ascii_form(character.code);
  }
  return shown;
}

std::string message_line(std::string_view text) {
  // A screen of 80 by 24 characters: the beginning of a longer message would scroll out of sight.
  constexpr int max_columns = 1920;
  return cut_to_width(printable(text), max_columns, "...");
}

std::string quote(std::string_view word) {
  // Length in bytes after which the word is cut: enough to recognise the word, and short enough for
  // a message on a screen.
  constexpr std::size_t max_bytes = 120;
  std::string shown = "'";
  while (!word.empty() && shown.size() < max_bytes) {
    const Character character = take_character(word);
    if (character.is_visible()) {
      shown += character.bytes;
      continue;
    }
    for (const char byte : character.bytes) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return shown + (word.empty() ? "'" : "...'");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

int display_width(std::string_view utf8) {
  int width = 0;
  while (!utf8.empty()) width += take_character(utf8).width();
  return width;
}

std::vector<std::string> characters(std::string_view utf8) {
  std::vector<std::string> parts;
  while (!utf8.empty()) {
    const Character character = take_character(utf8);
    if (parts.empty() || character.width() > 0) parts.emplace_back();
    parts.back() += character.bytes;
  }
  return parts;
}

std::string cut_to_width(std::string_view utf8, int width, std::string_view mark) {
  const std::size_t fitting = bytes_within(utf8, width);
  if (fitting == utf8.size()) return std::string(utf8);
  const int room = width - display_width(mark);
  if (room <= 0) return std::string(utf8.substr(0, fitting));
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
  const int room = std::max(width, 2);  // at least the width of a wide character
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

namespace {

// Maximum length of a typed word in bytes, since the time grows with the length of both words.
constexpr std::size_t max_letters = 64;

/// Returns the word in lower case without leading dashes, so that "--Help" and "help" are equal.
std::string letters_of(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string letters(word);
  std::ranges::transform(letters, letters.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return letters;
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours between `a`
/// and `b` (optimal string alignment: Damerau 1964).
std::size_t count_slips(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& candidates) {
  const std::string typed = letters_of(word);
  if (typed.empty() || typed.size() > max_letters) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t min_slips = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : candidates) {
    const std::string letters = letters_of(candidate);
    // At most two of five letters may differ, since a more distant suggestion would confuse.
    const std::size_t longer = std::max(typed.size(), letters.size());
    const std::size_t allowed = std::max<std::size_t>(1, longer * 2 / 5);
    const bool is_beginning = typed.size() >= 3 && letters.starts_with(typed);
    std::size_t slips = count_slips(typed, letters);
    if (is_beginning) slips = std::min<std::size_t>(slips, 1);
    // Fewer than half of the letters may differ, so a word of two letters or less must match fully.
    // The first letter may differ only if it is the only error: "cacheline" does not suggest
    // "baseline".
    const bool is_same_start = letters.starts_with(typed.front()) || slips < 2;
    const bool is_close = slips <= allowed && 2 * slips < longer && is_same_start;
    if (is_close && slips < min_slips) {
      best = candidate;
      min_slips = slips;
    }
  }
  return best;
}

}  // namespace clprobe
