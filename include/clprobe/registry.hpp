// SPDX-License-Identifier: Apache-2.0
// All probes, in the order of src/probes/probes.def.
#pragma once

#include <span>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe {

/// Returns all probes except the probe that replays launches.
std::span<const Probe* const> all_probes();

/// Returns the probe that replays launches; null in a build without the command `profile`.
const Probe* replay_probe();

/// Returns a probe that measures a chain of arithmetic. `all_probes` and `find_probe` do not return
/// this probe. Its reference point detects disturbances of a core and changes of the core clock,
/// independently of memory.
const Probe& arithmetic_probe();

/// Returns the probe with the id `id`; null for an unknown id.
const Probe* find_probe(std::string_view id);

}  // namespace clprobe
