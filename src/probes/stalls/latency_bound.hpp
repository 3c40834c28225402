// SPDX-License-Identifier: Apache-2.0
// Whether a bar waits for latencies and for nothing that could be used more. Pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe::stalls {

/// The sentence that a kernel is bound by latency, where its first cause is memory data, noise
/// finds nothing against that, and every resource is surely free for a fifth of the time or more.
/// `findings`: those of the bar, from the first on.
/// Source: Chips and Cheese, GPU memory latency's impact, and updated test: a kernel that issues in
/// less than 80 % of the cycles, and waits most for what it loads, is bound by latency.
std::optional<Finding> find_latency_bound(std::string_view bar, std::span<const Finding> findings);

}  // namespace clprobe::stalls
