// SPDX-License-Identifier: Apache-2.0
// What makes a finding the same one in two runs. Pure.
#pragma once

#include <map>
#include <string_view>
#include <tuple>

#include "clprobe/compare.hpp"
#include "clprobe/level_maps.hpp"

namespace clprobe {

/// Series, level, name, for shares of a bar their view and label, and the how-manieth of its kind.
using Key =
    std::tuple<std::string_view, int, std::string_view, std::string_view, std::string_view, int>;

/// The findings of a run, with the levels that correspond to them in the baseline; a level that the
/// baseline does not have has a negative number.
std::map<Key, const ComparedFinding*> keyed(const ComparedResult& result, const LevelMaps& levels);

}  // namespace clprobe
