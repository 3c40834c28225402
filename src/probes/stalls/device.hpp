// SPDX-License-Identifier: Apache-2.0
// The probe `stalls` on real devices: kernels of cl/stalls.cl whose causes of waiting are taken
// away one by one, and direct clocks where nothing can be taken away. Method: docs/stalls.md.
//
// Findings, by series (a bar): `time` in seconds, `stall` (a share of it), `interaction` of a pair
// ("a + b"), `absorbed` (a share, by kind of noise), `noise` (the verdict, as its label).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"

namespace clprobe::stalls {

/// The view that direct clocks give, beside those of stacks.
inline constexpr std::string_view view_clock = "clock";

Plan plan(const DeviceInfo& device, const Limits& limits);
/// Throws DeviceError, Unsupported and cl::Error.
Work prepare(Session& session, const Point& point);
/// Of the points that have `case` among their parameters; others are left alone.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
std::vector<KernelVariant> variants();

}  // namespace clprobe::stalls
