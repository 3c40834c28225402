// SPDX-License-Identifier: Apache-2.0
// What the points of patterns have in common. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/asked.hpp"

namespace clprobe::banks {

/// The patterns of a word that the local memory holds.
std::vector<Pattern> patterns_for(const DeviceInfo& device, const Asked& asked, int word);

/// One array for all patterns of a word, so that one build serves them.
std::uint64_t array_bytes(const DeviceInfo& device, const Asked& asked, int word);

Point point_of(const AccessKind& kind, const Shape& shape);

}  // namespace clprobe::banks
