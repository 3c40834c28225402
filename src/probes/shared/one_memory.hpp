// SPDX-License-Identifier: Apache-2.0
// Whether host and device have one memory. Pure.
#pragma once

#include "clprobe/run.hpp"

namespace clprobe {

/// It is a CPU, or the driver says so.
inline bool shares_memory_with_host(const DeviceInfo& device) {
  return runs_items_in_turn(device) || device.reported.integer_or("host_unified_memory", 0) != 0;
}

}  // namespace clprobe
