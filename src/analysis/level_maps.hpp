// SPDX-License-Identifier: Apache-2.0
// Which levels of two runs correspond. Pure.
#pragma once

#include <map>
#include <string_view>

#include "clprobe/compare.hpp"

namespace clprobe {

/// A level of the run to the baseline's; absent: the baseline has none.
using LevelMap = std::map<int, int>;

/// The times of a series' levels, or their bandwidths, by number.
std::map<int, const ComparedFinding*> speeds_of(const ComparedResult& result,
                                                std::string_view series);

using LevelMaps = std::map<std::string_view, LevelMap>;  ///< by series

/// For each series that has another number of levels than in the baseline, or another one in the
/// place of one of them. For two runs of one device.
LevelMaps level_maps(const ComparedResult& baseline, const ComparedResult& other);

/// The same for runs of different devices, for each series. The first corresponds to the first and
/// memory to memory, however far apart their times are; those between, in order, to those whose
/// times are nearest: of as many levels, the n-th to the n-th.
LevelMaps level_maps_of_devices(const ComparedResult& baseline, const ComparedResult& other);

}  // namespace clprobe
