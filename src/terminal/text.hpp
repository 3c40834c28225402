// SPDX-License-Identifier: Apache-2.0
// UTF-8 as a terminal shows it. Pure, and without the C locale, so that tests see the same widths
// everywhere.
#pragma once

#include <string>
#include <string_view>

namespace clprobe::terminal {

/// Columns that `text` takes on a terminal: combining marks take none, East Asian wide characters
/// two. A byte that is no UTF-8 counts as one column.
int display_width(std::string_view text);

/// The longest beginning of `text` that fits into `columns`, with control characters and bytes that
/// are no UTF-8 shown as '?', since they would move the cursor.
std::string cut_to_width(std::string_view text, int columns);

/// `word` between single quotes for a one-line message: control characters and bytes that are no
/// UTF-8 are written as \xNN, and a long word is cut.
std::string quote(std::string_view word);

}  // namespace clprobe::terminal
