// SPDX-License-Identifier: Apache-2.0
// Facts that control how the engine and the analysis treat a point.
#pragma once

#include <string_view>

namespace clprobe {

/// Marks a point whose rate comes from one compute unit while the others are idle. Disturbances
/// affect this rate as much as other work of one unit, and less than work of all units.
inline constexpr std::string_view of_one_unit = "of_one_unit";

/// Marks a point that decides a finding without other points. The value is the number of visits to
/// the point in each pass. More visits are needed since a shared CPU may be slow during all of only
/// two or three visits.
inline constexpr std::string_view visited_often = "visited_often";

/// Marks a point whose noise also shortens times, such as loads during memory streams. The time of
/// the point is the median of its samples instead of one of the shortest times.
inline constexpr std::string_view by_median = "by_median";

}  // namespace clprobe
