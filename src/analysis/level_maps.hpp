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

/// For each series that has another number of levels than in the baseline, or another one in the
/// place of one of them. Only for two runs of one
/// device: of others nobody knows which levels correspond, and the n-th is set beside the n-th.
std::map<std::string_view, LevelMap> level_maps(const ComparedResult& baseline,
                                                const ComparedResult& other);

}  // namespace clprobe
