// SPDX-License-Identifier: Apache-2.0
// Text as a terminal shows it: safe characters, columns, wrapping.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clprobe::report {

/// Text from a driver, made safe to show: control characters (C0, DEL, C1, so also every escape
/// sequence), characters that reorder text and bytes that are no UTF-8 become '?'; tabs and line
/// ends become spaces.
std::string printable(std::string_view text);

/// `printable`, and in ASCII: "±" is "+-", "µs" is "us"; what has no such form is '?'.
std::string printable_ascii(std::string_view text);

/// Columns on a terminal: 0 for combining marks, 2 for wide East Asian characters and emoji.
int display_width(std::string_view utf8);

/// Its characters, each with the marks that combine with it.
std::vector<std::string> characters(std::string_view utf8);

/// The text cut to `width` columns, its end marked by `mark` when something was cut.
std::string cut(std::string_view utf8, int width, std::string_view mark);

/// Filled with spaces to `width` columns, on the left (numbers) or on the right (words).
std::string pad_left(std::string_view utf8, int width);
std::string pad_right(std::string_view utf8, int width);

/// Lines of at most `width` columns, broken at spaces; a longer word is broken anywhere.
std::vector<std::string> wrap(std::string_view utf8, int width);

}  // namespace clprobe::report
