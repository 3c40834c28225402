// SPDX-License-Identifier: Apache-2.0
// The case studies of the probe `stalls` on simulated machines: bars whose every cycle is known.
#pragma once

#include <span>
#include <string>

#include "clprobe/probe.hpp"
#include "clprobe/simulated.hpp"
#include "probes/shared/limits.hpp"

namespace clprobe::gsi {

/// What was asked for and this machine cannot run, in one line; else empty.
std::string check(const DeviceInfo& device, const Limits& limits);
/// A point a bar. A case that does not fit the machine is a finding with the reason.
Plan plan(const DeviceInfo& device, const Limits& limits);
SimulatedWork trace(const simulator::Machine& machine, const Point& point);
/// From the accounts among the points' parameters: stacks, and the changes that the thesis gives
/// in numbers where all bars are there.
Findings analyse(std::span<const Point> points);

}  // namespace clprobe::gsi
