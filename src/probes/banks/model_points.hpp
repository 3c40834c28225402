// SPDX-License-Identifier: Apache-2.0
// The points of the model of conflicts, which come when it is known where the banks are. Pure.
#pragma once

#include <span>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::banks {

/// Exactly k lanes on k rows of one bank, as Probe::refine.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points);

/// Points that differ from those that are likely to come in nothing that a build sees, for words of
/// so many bytes in an array of so many. Their kernels can be built before it is known where the
/// banks are: on an H200 with an empty cache that took 1.6 s while nothing else was done.
std::vector<Point> foreseen_points(const DeviceInfo& device, int word_bytes,
                                   std::uint64_t local_bytes);

}  // namespace clprobe::banks
