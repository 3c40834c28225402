// SPDX-License-Identifier: Apache-2.0
// Files that are part of the program: kernels, the pages of `clprobe explain`, and what an HTML
// page is made of.
#pragma once

#include <string>
#include <string_view>

namespace clprobe {

/// The text of an embedded file: "latency.cl", "clock.clh", "latency.md", "report.js".
/// Throws std::out_of_range when there is no such file.
std::string_view embedded_file(std::string_view name);

/// The source that a driver compiles: clock.clh, `preamble`, and the kernel file with the text of
/// embedded files in place of the lines that include them. Throws std::out_of_range if there is no
/// such file.
std::string kernel_source(std::string_view file, std::string_view preamble = {});

/// SHA-256 of clock.clh, the headers that the kernel file includes and the file itself, as `cat
/// cl/clock.clh cl/NAME | sha256sum` says of one that includes none. Throws std::out_of_range when
/// there is no such kernel file.
std::string_view kernel_sha256(std::string_view name);

/// The name of a script or style in a Content-Security-Policy: "sha256-" and base64.
/// Throws std::out_of_range when there is no such script or style.
std::string_view content_hash(std::string_view name);

/// True if there is such a file.
bool has_embedded_file(std::string_view name);

}  // namespace clprobe
