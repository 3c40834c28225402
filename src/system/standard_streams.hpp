// SPDX-License-Identifier: Apache-2.0
// stdin, stdout and stderr, which whoever starts the program may have closed.
#pragma once

#include <string_view>

namespace clprobe::system {

/// Puts /dev/null where one of the three is closed, for `main` before anything else is opened: the
/// next file or socket would else get its number, and what is meant for a terminal would go there.
/// Opened the wrong way round, so that a result written to a closed stdout is an error and not
/// lost in silence.
void open_missing_streams();

/// Returns true if the descriptor is open for writing.
bool is_open_for_writing(int descriptor);

/// Writes to stderr as far as it can: an error message that nobody can read is no error.
void write_to_stderr(std::string_view text) noexcept;

}  // namespace clprobe::system
