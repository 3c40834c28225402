// SPDX-License-Identifier: Apache-2.0
// What disturbed a run, by its reference points, and by how much that widens the interval of what
// was measured meanwhile. Pure. The rule and where it comes from are in docs/method.md.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe {

/// Half the width of a 95 % interval, as the logarithm of a ratio, that holds what the times of a
/// reference point say of the run; nothing for fewer than two moments above 0. Of a time the least
/// counts, of the inverse of a rate what is usual, as in the estimates of points.
std::optional<double> half_width_of(std::span<const Moment> moments, bool is_rate = false);

/// Of every reference point that was measured twice or more.
std::vector<Disturbance> find_disturbances(const Run& run);

/// By how much a time is disturbed: as the reference nearest to it, of times where there are any. A
/// rate, which all units of a device and its memory make together: as the most disturbed reference
/// of all. `seconds`: of one access, or of one byte. 0 without a reference.
double disturbance_at(std::span<const Disturbance> disturbances, double seconds, bool is_rate);

}  // namespace clprobe
