// SPDX-License-Identifier: Apache-2.0
// Sizes that a person asked for, against what there is room for.
#pragma once

#include <fmt/format.h>

#include <string>

#include "clprobe/probe.hpp"
#include "clprobe/units.hpp"

namespace clprobe {

/// Of sizes that nobody could measure, where `largest` is the largest that can be: what was typed
/// has an effect or is an error. Empty where all can be.
inline std::string beyond_room(const Request& request, Bytes largest) {
  for (const SizeRange& range : request.own.sizes("sizes")) {
    if (range.last <= largest) continue;
    return fmt::format(
        "--sizes: {} is more than {}; choose at most {}", format_bytes(range.last),
        request.max_memory.count != 0 ? "--max-memory allows" : "the probe's buffers can hold",
        format_bytes(largest));
  }
  return {};
}

}  // namespace clprobe
