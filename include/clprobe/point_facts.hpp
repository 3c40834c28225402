// SPDX-License-Identifier: Apache-2.0
// Facts of points that control how the engine and the analysis treat them.
#pragma once

#include <string_view>

namespace clprobe {

/// Marks points of a rate that one compute unit reaches while the others idle. Disturbances affect
/// such a rate like other work of one unit, and less than work of all units.
inline constexpr std::string_view of_one_unit = "of_one_unit";

/// Marks points that alone decide a finding. Each pass visits them this many times as often as
/// other points. A shared CPU may be slow for a whole visit, so that all of two or three visits may
/// have been slow.
inline constexpr std::string_view visited_often = "visited_often";

/// Marks points whose samples also vary downwards, such as loads next to streams: their time is the
/// median of the samples.
inline constexpr std::string_view by_median = "by_median";

}  // namespace clprobe
