// SPDX-License-Identifier: Apache-2.0
// How much of what is left of a kernel, with all causes gone, is waiting for results of its own
// arithmetic: GSI's "compute data". Pure.
//
// No text takes a result's latency away and leaves the instructions. But while all work-items wait,
// the units are free. Another kernel that keeps a unit busy, from before this one to behind it,
// takes as much longer as this one had the unit: the rest of its time this one waited. Loads have
// latencies as well: a kernel that waits for its own becomes slower beside other loads, and one
// that waits for results does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/kernel_causes.hpp"

namespace clprobe {

/// "arithmetic" (of floats), "integers", "logic": what such noise lost to the kernel. "scattered":
/// what the kernel took beside loads.
struct BareTimes {
  std::string_view name{};
  Visits visits_ns{};
};

/// What is left of the kernel, and the same with noise beside it.
struct BareNoise {
  std::string refusal{};  ///< why there is none; without a full stop
  std::vector<BareTimes> kinds{};
  Visits alone_ns{};
  std::uint64_t groups{0};
  std::uint64_t resident_groups{0};  ///< at once, of the kernel as it is; 0: not known
};

/// The last cause, with its part of what was unattributed, and advice that knows of it. Nothing
/// where the other causes are not believed.
void add_chains(const BareNoise& noise, KernelCauses& causes);

}  // namespace clprobe
