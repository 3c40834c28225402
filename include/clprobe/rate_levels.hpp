// SPDX-License-Identifier: Apache-2.0
// Memory levels from a curve of bandwidth.
#pragma once

#include <span>
#include <vector>

#include "clprobe/levels.hpp"

namespace clprobe {

/// As `find_levels`, of times of a byte. Where these rise slowly, a part of each working set hits a
/// nearer cache: that is no level, while a latency that creeps (translation) is one.
std::vector<Level> find_rate_levels(std::span<const CurvePoint> points);

}  // namespace clprobe
