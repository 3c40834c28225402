// SPDX-License-Identifier: Apache-2.0
// How much memory the loads of the probe `inflight` go to. Pure.
#pragma once

#include <string_view>

#include "clprobe/probe.hpp"
#include "probes/inflight/asked.hpp"

namespace clprobe::inflight {

/// Bytes from one line to the next, a power of two.
Bytes line_of(const DeviceInfo& device);

/// Work-items that a group can have.
std::int64_t max_items(const DeviceInfo& device);

/// Whether the loaded latency can be measured, and was not left out.
bool plans_loaded(const DeviceInfo& device, const Asked& asked);

/// Powers of two; with the streams they fit into the memory that is allowed.
struct Buffers {
  Bytes cache;   ///< what surely stays in the last cache
  Bytes memory;  ///< more than it holds; of the host, and of the streams, as much again

  [[nodiscard]] Bytes of(std::string_view target) const {
    return target == "cache" ? cache : memory;
  }
};

Buffers choose_buffers(const DeviceInfo& device, const Asked& asked);

/// What the planned points take at once.
Bytes memory_for(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::inflight
