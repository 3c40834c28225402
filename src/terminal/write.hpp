// SPDX-License-Identifier: Apache-2.0
// Writing to a file descriptor.
#pragma once

#include <string_view>

namespace clprobe::terminal {

/// Writes all of `text` to `descriptor`, however many calls it takes. Returns 0, or the errno of
/// the call that failed. A closed pipe is EPIPE after `ignore_broken_pipes`.
int write_all(int descriptor, std::string_view text);

/// A write to a closed pipe then returns an error rather than ending the process. For `main`, once.
void ignore_broken_pipes();

}  // namespace clprobe::terminal
