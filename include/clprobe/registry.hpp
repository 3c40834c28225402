// SPDX-License-Identifier: Apache-2.0
// All probes, in the order of src/probes/probes.def, with what is embedded for each.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe {

std::span<const Probe* const> all_probes();

/// Null when there is no probe of that id.
const Probe* find_probe(std::string_view id);

/// The text of an embedded file: "latency.cl", "clock.clh", "latency.md". Throws std::out_of_range.
std::string_view embedded_file(std::string_view name);

}  // namespace clprobe
