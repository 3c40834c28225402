// SPDX-License-Identifier: Apache-2.0
// UTF-8 for terminals and pages: safe characters, display columns, cutting, wrapping. The results
// depend only on the arguments, so that text looks the same on every machine.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe {

/// Returns text from outside (a driver, a file, the command line) in a form that is safe to show.
/// Tabs, '\n' and '\r' become spaces. Bytes that are not UTF-8 and invisible characters become '?',
/// among them control characters (including the escape character), direction marks, zero-width
/// characters, tags, and unassigned code points.
std::string printable(std::string_view text);

/// Returns the result of printable() in ASCII: "+-" for "±", "us" for "µs", '?' for characters
/// without an ASCII form.
std::string printable_ascii(std::string_view text);

/// Returns a message for stderr: the result of printable(), cut to the size of a screen.
std::string message_line(std::string_view text);

/// Returns a word from outside (a driver, a file, the command line) in single quotes, for a message
/// of one line. Bytes that printable() would replace become \xNN, and a long word is cut.
std::string quote(std::string_view word);

/// Returns the text without blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// Returns the width of the text in terminal columns. A combining mark has 0 columns, a wide East
/// Asian character or an emoji 2, and a character that printable() would replace 1.
int display_width(std::string_view utf8);

/// Returns the characters of the text, each with its combining marks.
std::vector<std::string> characters(std::string_view utf8);

/// Returns the text, cut to at most `width` columns. A cut text ends with `mark` if there is room.
std::string cut_to_width(std::string_view utf8, int width, std::string_view mark = "");

/// Return the text, filled to `width` columns with spaces on the left (for numbers) or on the right
/// (for words).
std::string pad_left(std::string_view utf8, int width);
std::string pad_right(std::string_view utf8, int width);

/// Returns lines of at most `width` columns (at least 2), broken at spaces; a word longer than
/// `width` is broken between any two characters.
std::vector<std::string> wrap(std::string_view utf8, int width);

// Correction of mistyped words.

/// Returns the candidate that `word` probably misspells: the nearest one, if it has only few
/// different letters; else nothing.
std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& candidates);

// Lists without repetitions.

/// True if `values` contains `value`.
template <typename Values, typename Value>
constexpr bool contains(const Values& values, const Value& value) {
  return std::ranges::find(values, value) != std::ranges::end(values);
}

/// Appends `value` to `values`, unless `values` already contains it.
template <typename Listed, typename Value>
void add_once(std::vector<Listed>& values, Value&& value) {
  if (!contains(values, value)) values.emplace_back(std::forward<Value>(value));
}

}  // namespace clprobe
