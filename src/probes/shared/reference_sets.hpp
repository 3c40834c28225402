// SPDX-License-Identifier: Apache-2.0
// Where the reference points of probes lie that walk through working sets.
#pragma once

#include <algorithm>
#include <cstddef>

#include "clprobe/device_info.hpp"
#include "clprobe/units.hpp"

namespace clprobe {

/// A curve of fewer sizes is over before anything could disturb it.
inline constexpr std::size_t min_followed_sizes = 8;

/// What no cache holds, as small as can be: some drivers report the nearest cache, and no last one
/// is much larger than this.
inline Bytes beyond_caches(const DeviceInfo& device) {
  return std::max(reported_cache(device) * 2, mebibytes(256));
}

}  // namespace clprobe
