// SPDX-License-Identifier: Apache-2.0
// What bars say on a card: which cause is the largest, and of which kernels. Pure.
#pragma once

#include <string>

#include "clprobe/run.hpp"

namespace clprobe {

/// "38–59 % main memory (5 kernels), 12–70 % compute data (2), 52 % barrier": by the causes of the
/// first view, the most frequent first; the last ones are of one kernel each. Empty without bars.
std::string largest_causes(const ProbeResult& result);

}  // namespace clprobe
