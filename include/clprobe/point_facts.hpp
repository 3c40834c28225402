// SPDX-License-Identifier: Apache-2.0
// Facts by which a probe tells the engine and the analysis how its points are to be treated.
#pragma once

#include <string_view>

namespace clprobe {

/// Marks points of a rate that one compute unit reaches while all others idle: such a rate is as
/// disturbed as other work of one unit, and less than work of all units.
inline constexpr std::string_view of_one_unit = "of_one_unit";

/// Marks points on which a finding rests alone: each pass visits them so many times as often as the
/// others. A CPU shared with others is fast or slow for as long as a visit, so that of two
/// or three visits all may have been slow.
inline constexpr std::string_view visited_often = "visited_often";

}  // namespace clprobe
