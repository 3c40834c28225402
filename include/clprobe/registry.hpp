// SPDX-License-Identifier: Apache-2.0
// All probes, in the order of src/probes/probes.def.
#pragma once

#include <span>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe {

/// Returns all probes except the one that replays launches.
std::span<const Probe* const> all_probes();

/// Returns the probe that replays launches; null in a build without `profile`.
const Probe* replay_probe();

/// Returns a probe that measures a chain of arithmetic and is in no list of probes. Its reference
/// point shows disturbances of a core and changes of its clock, independently of memory.
const Probe& arithmetic_probe();

/// Returns the probe with this id; null for an unknown id. The arithmetic probe has no id.
const Probe* find_probe(std::string_view id);

}  // namespace clprobe
