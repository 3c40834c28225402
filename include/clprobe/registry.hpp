// SPDX-License-Identifier: Apache-2.0
// All probes, in the order of src/probes/probes.def.
#pragma once

#include <span>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe {

/// Those of the device: without any that replays launches.
std::span<const Probe* const> all_probes();

/// The one that replays launches; null in a build without `profile`.
const Probe* replay_probe();

/// A chain of arithmetic that is no probe of its own: its reference point shows what disturbs a
/// core, or what changes its clock, whatever memory does.
const Probe& arithmetic_probe();

/// Any of them, without the arithmetic. Null when there is no probe of that id.
const Probe* find_probe(std::string_view id);

}  // namespace clprobe
