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

/// The same for runs of one device or of two. Of two devices, for each series: levels of one name
/// correspond, those of two names never do; of what has no name the first corresponds to the first
/// and memory to memory, however far apart their times are; those between, in order, to those whose
/// times are nearest: of as many levels, the n-th to the n-th.
LevelMaps paired_levels(const ComparedResult& baseline, const ComparedResult& other,
                        bool is_same_device);

/// Sets `level_name` of the findings of a run: "L1", "L2", "far L2", "TLB reach", "memory". The
/// levels of a series that has steps are caches by these; those of others, of any probe, are the
/// caches that end at the same size; of a series without sizes, in an imported run, those of the
/// same numbers. A last level is memory where it goes on far beyond the caches.
void name_levels(RunDigest& run, bool is_imported);

}  // namespace clprobe
