// SPDX-License-Identifier: Apache-2.0
// The own time of each sub-group of a work-group: from its clock behind the barrier until all of
// its own values are there. Source: Lashgar, Salehi, Baniasadi 2015, section 3.1, which has a time
// for each thread; the lanes of a sub-group read one clock at once. Pure.
#pragma once

#include <span>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/inflight/asked.hpp"

namespace clprobe::inflight {

/// A point for each sub-group of the largest group, or of those that were asked for. On a CPU,
/// which runs work-items one after another, a work-item is a sub-group.
std::vector<Point> plan_own_times(const DeviceInfo& device, const Asked& asked);

/// The least and the largest of each series of these, in cycles.
void add_own_times(const DeviceInfo& device, std::span<const Point> points, Findings& found);

}  // namespace clprobe::inflight
