// SPDX-License-Identifier: Apache-2.0
// Points on which a finding rests alone. A CPU shared with others is fast or slow for as long as a
// visit, so that of two or three visits all may have been slow.
#pragma once

#include <string_view>

namespace clprobe {

/// A fact of such points: in each round they are visited so many times as often as the others.
inline constexpr std::string_view visited_often = "visited_often";

}  // namespace clprobe
