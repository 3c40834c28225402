// SPDX-License-Identifier: Apache-2.0
// How much of what is left of a kernel, with all causes gone, is waiting for results of its own
// arithmetic: GSI's "compute data". Pure.
//
// No text takes a result's latency away and leaves the instructions. But while all work-items wait,
// the units are free for others: copies of the kernel side by side take as long as one of them,
// until some unit has work all of the time, and whichever that is, the time for each copy is what
// one needs of it. The rest of its time the kernel waits. Loads have latencies as well: a kernel
// that waits for its own becomes slower beside other loads, and one that waits for results does
// not.
#pragma once

#include <cstdint>
#include <string>

#include "clprobe/kernel_causes.hpp"

namespace clprobe {

/// So many copies run side by side.
inline constexpr std::uint64_t bare_copies = 8;

/// What is left of the kernel by itself, and the same with others beside it.
struct BareRuns {
  std::string refusal{};  ///< why there are none; without a full stop
  Visits alone_ns{};
  Visits copies_ns{};        ///< the time of `bare_copies` side by side, for each of them
  Visits beside_loads_ns{};  ///< what it takes while another kernel loads
  std::uint64_t groups{0};
  std::uint64_t resident_groups{0};  ///< at once, of the kernel as it is; 0: not known
  std::uint64_t units{1};
};

/// The last cause, with its part of what was unattributed, and advice that knows of it. Nothing
/// where the other causes are not believed.
void add_chains(const BareRuns& runs, KernelCauses& causes);

}  // namespace clprobe
