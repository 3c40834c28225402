// SPDX-License-Identifier: Apache-2.0
// Files embedded in the program: kernels, the pages of `clprobe explain`, and the parts of HTML
// pages.
#pragma once

#include <string>
#include <string_view>

namespace clprobe {

/// Returns the contents of an embedded file, such as "latency.cl", "clock.clh", "latency.md" or
/// "report.js". Throws std::out_of_range if no embedded file has this name.
std::string_view embedded_file(std::string_view name);

/// Returns the source that a driver compiles: clock.clh, `preamble`, and the kernel file `file`
/// with each include directive replaced by the included file. Throws std::out_of_range if a file is
/// not embedded.
std::string kernel_source(std::string_view file, std::string_view preamble = {});

/// Returns the SHA-256 of clock.clh, the headers that the kernel file `name` includes, and the
/// kernel file. Without includes, this is the result of `cat cl/clock.clh cl/NAME | sha256sum`.
/// Throws std::out_of_range for an unknown kernel file.
std::string_view kernel_sha256(std::string_view name);

/// Returns the hash of an embedded script or style sheet for a Content-Security-Policy: "sha256-"
/// and base64. Throws std::out_of_range for an unknown name.
std::string_view content_hash(std::string_view name);

/// True if the file is embedded.
bool has_embedded_file(std::string_view name);

}  // namespace clprobe
