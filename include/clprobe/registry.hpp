// SPDX-License-Identifier: Apache-2.0
// All probes, in the order of src/probes/probes.def.
#pragma once

#include <span>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe {

/// Returns the probes of devices: all but the one that replays launches.
std::span<const Probe* const> all_probes();

/// Returns the probe that replays launches; null in a build without `profile`.
const Probe* replay_probe();

/// Returns a chain of arithmetic, which is in no list of probes. Its reference point shows what
/// disturbs a core or changes its clock, independently of memory.
const Probe& arithmetic_probe();

/// Returns the probe of that id; null if there is none. The arithmetic has no id here.
const Probe* find_probe(std::string_view id);

}  // namespace clprobe
