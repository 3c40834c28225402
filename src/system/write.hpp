// SPDX-License-Identifier: Apache-2.0
// Writing to a file descriptor.
#pragma once

#include <string_view>

namespace clprobe::system {

/// Writes all of `text` to `descriptor`, however many calls it takes. Returns 0, or the errno of
/// the call that failed. A closed pipe is EPIPE and a file beyond the process' limit EFBIG, both
/// after `ignore_signals_of_writing`; an interrupt that comes while a reader is waited for is
/// EINTR.
int write_all(int descriptor, std::string_view text);

/// Such a write then returns an error rather than ending the process. For `main`, once.
void ignore_signals_of_writing();

}  // namespace clprobe::system
