// SPDX-License-Identifier: Apache-2.0
// A first level that was measured and has no plateau keeps its number: the second is not the first.
// Pure.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "clprobe/levels.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// The number of the first of a curve's levels: 2 where a nearer one was lost.
int number_of_first(std::span<const CurvePoint> curve, std::span<const Level> levels);

/// The finding without a value of a level that was lost, which is made of `first`; nothing where
/// none was. `said`: what the point that shows it does, as in "takes 0.678 ns".
std::optional<Finding> lost_first_level(std::span<const CurvePoint> curve,
                                        std::span<const Level> levels, Finding first,
                                        const std::function<std::string(const CurvePoint&)>& said);

}  // namespace clprobe
