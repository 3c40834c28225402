// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace clprobe::terminal {

/// "clprobe: MESSAGE" as a line on stderr, in characters that may be shown: a message may carry a
/// driver's own words. The only way to stderr but the progress line; what cannot be written there
/// is lost, and changes nothing else.
void complain(std::string_view message) noexcept;

}  // namespace clprobe::terminal
