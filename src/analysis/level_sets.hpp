// SPDX-License-Identifier: Apache-2.0
// Two runs of one device of which one found a level that the other did not. Pure.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "clprobe/compare.hpp"
#include "clprobe/level_maps.hpp"

namespace clprobe {

/// The levels of a series in which two runs disagree, as one finding of each.
struct LevelSets {
  ComparedFinding baseline{};
  ComparedFinding other{};
  /// `different` where the curves differ at the sizes of a level that one run alone has, else
  /// `unclear`: the same curve was cut into other levels.
  Judgement judgement{};
  std::set<int> touched{};  ///< the baseline's levels that are matched to none or lost a neighbour
};

/// For the series of `maps` whose levels are not all matched.
std::vector<LevelSets> differing_levels(const ComparedResult& baseline, const ComparedResult& other,
                                        const LevelMaps& maps);

/// Whether the finding of the baseline says how a level ends, and the next one is another one in
/// the other run. The time of a level does not depend on its neighbours.
bool rests_on_differing(const Finding& finding, const std::vector<LevelSets>& sets);

}  // namespace clprobe
