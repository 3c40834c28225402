// SPDX-License-Identifier: Apache-2.0
// UTF-8 for terminals and pages: safe characters, display columns, cutting, wrapping. Pure, and
// independent of the C locale, so that text looks alike everywhere.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe {

/// Returns text from outside (a driver, a file, the command line) in a form that is safe to show.
/// Replaces invisible characters, and bytes that are not UTF-8, by '?': control characters (so also
/// every escape sequence), marks of direction, zero-width characters, tags, and unassigned code
/// points. Replaces tabs and line ends by spaces.
std::string printable(std::string_view text);

/// Returns `printable` in ASCII: "±" is "+-", "µs" is "us"; a character without such a form is '?'.
std::string printable_ascii(std::string_view text);

/// Returns a message for stderr: `printable`, and cut to the size of a screen.
std::string message_line(std::string_view text);

/// Returns a word from outside in single quotes, for a message of one line. Writes bytes that
/// `printable` would replace as \xNN, and cuts a long word.
std::string quote(std::string_view word);

/// Returns the text without blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// Returns the columns on a terminal: 0 for combining marks, 2 for wide East Asian characters and
/// emoji, and 1 for a character that `printable` would replace.
int display_width(std::string_view utf8);

/// Returns the characters, each with its combining marks.
std::vector<std::string> characters(std::string_view utf8);

/// Returns the longest beginning within `width` columns; if it is cut, it ends with `mark`.
std::string cut_to_width(std::string_view utf8, int width, std::string_view mark = "");

/// Return the text filled with spaces to `width` columns, on the left (numbers) or right (words).
std::string pad_left(std::string_view utf8, int width);
std::string pad_right(std::string_view utf8, int width);

/// Returns lines of at most `width` columns, broken at spaces; a longer word is broken anywhere.
std::vector<std::string> wrap(std::string_view utf8, int width);

// Correction of mistyped words.

/// Returns the candidate nearest to `word` if it is close enough to be meant, else nothing.
std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& candidates);

// Lists without repetitions.

/// True if one of the values equals `value`.
template <typename Values, typename Value>
constexpr bool contains(const Values& values, const Value& value) {
  return std::ranges::find(values, value) != std::ranges::end(values);
}

/// Appends `value` unless the list contains it.
template <typename Listed, typename Value>
void add_once(std::vector<Listed>& values, Value&& value) {
  if (!contains(values, value)) values.emplace_back(std::forward<Value>(value));
}

}  // namespace clprobe
