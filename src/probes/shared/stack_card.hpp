// SPDX-License-Identifier: Apache-2.0
// What bars say on a card: which cause is the largest, and of which kernels. Pure.
#pragma once

#include <string>

#include "clprobe/run.hpp"

namespace clprobe {

/// "main memory 37 to 59 % of 5 kernels; of one each: barrier 52 %": by the causes of the first
/// view, the most frequent first. Empty without bars.
std::string largest_causes(const ProbeResult& result);

}  // namespace clprobe
