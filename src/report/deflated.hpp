// SPDX-License-Identifier: Apache-2.0
// Text in less space, for pages that carry data.
#pragma once

#include <string>
#include <string_view>

namespace clprobe::report {

/// A zlib stream (RFC 1950) of the text, in base64 (RFC 4648). In a browser `atob` and then
/// `DecompressionStream("deflate")` give the text back.
std::string deflated(std::string_view text);

}  // namespace clprobe::report
