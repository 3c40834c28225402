// SPDX-License-Identifier: Apache-2.0
// The jumps of a sweep: where two levels explain it better than one. A piece of find_spike
// (spikes.hpp).
#pragma once

#include <cstddef>
#include <optional>

#include "analysis/sweep.hpp"

namespace clprobe {

/// A jump counts when it stands out of the noise by so many standard deviations: a sweep tries some
/// 10^5 places and scales.
inline constexpr double min_score = 6.0;

struct FoundSpike {
  Spike spike{};
  std::size_t gap{0};
};

/// The next jump at or behind gap `from`, with nothing before point `begin` in view.
std::optional<FoundSpike> next_spike(const Sweep& sweep, std::size_t begin, std::size_t from);

}  // namespace clprobe
