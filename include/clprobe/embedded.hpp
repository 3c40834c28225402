// SPDX-License-Identifier: Apache-2.0
// Files that are part of the program: kernels and the pages of `clprobe explain`.
#pragma once

#include <string_view>

namespace clprobe {

/// The text of an embedded file: "latency.cl", "clock.clh", "latency.md".
/// Throws std::out_of_range when there is no such file.
std::string_view embedded_file(std::string_view name);

/// SHA-256 of clock.clh followed by the kernel file, as `cat cl/clock.clh cl/NAME | sha256sum`
/// says. Throws std::out_of_range when there is no such kernel file.
std::string_view kernel_sha256(std::string_view name);

}  // namespace clprobe
