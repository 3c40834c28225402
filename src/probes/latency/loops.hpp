// SPDX-License-Identifier: Apache-2.0
// How long the loops of cl/latency.cl are, and which are not needed. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/latency/ring_shape.hpp"
#include "probes/latency/series.hpp"

namespace clprobe::latency {

inline constexpr std::uint64_t chains_per_item = 16;  // CHAINS in cl/latency.cl

// From so many times the nodes on that are not aged, it does not matter that they are not.
inline constexpr std::uint64_t long_ring = 32;

/// Hops of a chase: more lines than the caches hold that belong to one core or compute unit, so
/// that it leaves nothing of use in them for the next one.
std::uint64_t usual_hops(const DeviceInfo& device);

/// Small rings are walked once in the launch itself, since some devices empty their first caches
/// between launches. Large ones are aged by sweeps.
std::uint64_t warm_iterations(const DeviceInfo& device, const RingShape& shape);

/// Timed iterations of a launch, at most.
std::uint64_t max_timed(const DeviceInfo& device, const SeriesSpec& series, const RingShape& shape);

/// Work-items of a sweep, unless the driver takes fewer.
std::uint64_t sweep_items(const DeviceInfo& device);

/// Hops of each chain of a sweep over so many nodes.
std::uint64_t sweep_hops(std::uint64_t nodes, std::uint64_t items);

/// Whether the device is the CPU itself, run by native code: threads that may be on any core.
bool is_native_cpu(const DeviceInfo& device);

/// Whether the layout of so many nodes has itself aged the first `hops` of them, so that the chases
/// over these need no walk before them.
bool is_aged_by_layout(const DeviceInfo& device, std::uint64_t nodes, std::uint64_t hops);

/// Of every kernel that a point's launches run.
std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::latency
