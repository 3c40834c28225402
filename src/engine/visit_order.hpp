// SPDX-License-Identifier: Apache-2.0
// In which order a round visits its points. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe {

/// `first` and what follows it of so many.
std::vector<std::size_t> indices_from(std::size_t first, std::size_t count);

/// A point of each series before all others, else in the order given: where time runs out, none of
/// them is missing.
std::vector<std::size_t> each_series_first(std::span<const Point> points,
                                           const std::vector<std::size_t>& order);

/// How many times as often as others the point is visited in a round.
int visits_in_round(const Point& point);

/// The order with those points several times that are visited often: again and again in as many
/// equal parts of the round.
std::vector<std::size_t> with_repeats(std::span<const Point> points,
                                      const std::vector<std::size_t>& order);

}  // namespace clprobe
