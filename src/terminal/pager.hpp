// SPDX-License-Identifier: Apache-2.0
// Pages that are longer than a screen.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace clprobe::terminal {

/// Pure: the command that PAGER means, `less` where it is not set; nothing where it is empty or
/// `cat`, or where the terminal is dumb.
std::optional<std::string> pager_of(const char* pager, std::string_view term);

/// To stdout, through the pager where that is a terminal. Without one, or where it fails, the text
/// is written as it is. Throws OutputError.
void show_page(std::string_view text);

}  // namespace clprobe::terminal
