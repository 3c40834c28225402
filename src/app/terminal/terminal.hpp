// SPDX-License-Identifier: Apache-2.0
// Abilities of the terminal behind a file descriptor.
#pragma once

#include <string_view>

namespace clprobe::terminal {

enum class ColourMode { automatic, always, never };

bool is_terminal(int descriptor);

/// Columns of the terminal, up to 1000; otherwise COLUMNS of the environment, otherwise 80.
int width_columns(int descriptor);

/// Pure: the number of columns in COLUMNS; 80 unless it is a number from 1 to 1000.
int columns_of(std::string_view columns);

/// Facts that decide about colour in automatic mode.
struct ColourFacts {
  std::string_view no_color{};        ///< NO_COLOR: any text turns colour off (no-color.org)
  std::string_view clicolor_force{};  ///< CLICOLOR_FORCE: any text but "0" turns it on for a pipe
  std::string_view term{};            ///< TERM: "dumb" or nothing has no colour
  bool is_terminal{false};
};

/// Pure. NO_COLOR is stronger than CLICOLOR_FORCE, and the mode is stronger than both.
bool decide_colour(ColourMode mode, const ColourFacts& facts);

/// `decide_colour` with the facts of this process and of the descriptor.
bool use_colour(ColourMode mode, int descriptor);

/// Pure: the first variable that is not empty names the character set, as in POSIX.
bool locale_is_utf8(std::string_view lc_all, std::string_view lc_ctype, std::string_view lang);

/// Returns whether the environment's locale is UTF-8, so that blocks and 'µ' can be shown.
bool has_unicode();

/// Returns whether a line can be redrawn in place: on a terminal that is not dumb.
bool can_redraw(int descriptor);

}  // namespace clprobe::terminal
