// SPDX-License-Identifier: Apache-2.0
// Whether one compute unit alone fills the memory behind it. Pure.
#pragma once

#include <optional>
#include <span>

#include "clprobe/probe.hpp"

namespace clprobe::inflight {

/// The most bytes from memory that the one work-group of the Thread-Latency curves had in a
/// nanosecond, as a share of the most that work-groups on all units streamed. Far below 1, what the
/// curves show are limits of the unit, and not of what all units share. Nothing where either was
/// not measured.
std::optional<Finding> find_unit_share(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::inflight
