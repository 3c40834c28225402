// SPDX-License-Identifier: Apache-2.0
// Facts by which a probe tells the engine and the analysis how its points are to be treated.
#pragma once

#include <string_view>

namespace clprobe {

/// Of points of a rate that one unit reaches while all others idle: it is as disturbed as what a
/// unit does by itself, and not as what all of them do together.
inline constexpr std::string_view of_one_unit = "of_one_unit";

/// Of points on which a finding rests alone: in each round they are visited so many times as often
/// as the others. A CPU shared with others is fast or slow for as long as a visit, so that of two
/// or three visits all may have been slow.
inline constexpr std::string_view visited_often = "visited_often";

}  // namespace clprobe
