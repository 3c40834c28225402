// SPDX-License-Identifier: Apache-2.0
// Reading a whole file.
#pragma once

#include <cstddef>
#include <string>

namespace clprobe::system {

/// The bytes of a file, which may be a pipe or a device. Waits for a pipe's writer until an
/// interrupt. Throws std::system_error: what the system says, EFBIG for more than `max_bytes`,
/// EINTR for an interrupt.
std::string read_file(const std::string& path, std::size_t max_bytes);

/// Reads a plain file alone: throws ELOOP for a link, EINVAL for a pipe, a device or a folder. For
/// names that come from others, who might name a file that only this user may read.
std::string read_plain_file(const std::string& path, std::size_t max_bytes);

}  // namespace clprobe::system
