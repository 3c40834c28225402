// SPDX-License-Identifier: Apache-2.0
// UTF-8 as terminals and pages show it: characters that may be shown, columns, cutting, wrapping.
// Pure, and without the C locale, so that the same text looks the same everywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clprobe {

/// Text from outside (a driver, a file, the command line), made safe to show: a character that does
/// something instead of being seen becomes '?', and so does each byte that is no UTF-8. Such are
/// control characters (so also every escape sequence), marks of direction, zero-width and other
/// invisible characters, tags, and code points that Unicode has not assigned. Tabs and line ends
/// become spaces.
std::string printable(std::string_view text);

/// `printable`, and in ASCII: "±" is "+-", "µs" is "us"; what has no such form is '?'.
std::string printable_ascii(std::string_view text);

/// What goes to stderr, whoever wrote it: `printable`, and cut where it is longer than a screen.
std::string message_line(std::string_view text);

/// A word of outside between single quotes, for a message of one line: what `printable` would not
/// show is written as \xNN, byte by byte, and a long word is cut.
std::string quote(std::string_view word);

/// Without blanks, tabs and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// Columns on a terminal: 0 for combining marks, 2 for wide East Asian characters and emoji. What
/// `printable` would replace takes the column of its '?'.
int display_width(std::string_view utf8);

/// Its characters, each with the marks that combine with it.
std::vector<std::string> characters(std::string_view utf8);

/// Its longest beginning within `width` columns. Where something is cut off, `mark` is its end.
std::string cut_to_width(std::string_view utf8, int width, std::string_view mark = "");

/// Filled with spaces to `width` columns, on the left (numbers) or on the right (words).
std::string pad_left(std::string_view utf8, int width);
std::string pad_right(std::string_view utf8, int width);

/// Lines of at most `width` columns, broken at spaces; a longer word is broken anywhere.
std::vector<std::string> wrap(std::string_view utf8, int width);

}  // namespace clprobe
