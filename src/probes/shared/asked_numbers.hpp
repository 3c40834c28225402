// SPDX-License-Identifier: Apache-2.0
// Requested numbers against the limits of a device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace clprobe {

/// Returns the first of `numbers` above `most`; nothing if there is none.
inline std::optional<int> find_beyond(const std::vector<int>& numbers, std::int64_t most) {
  const auto found =
      std::find_if(numbers.begin(), numbers.end(), [&](int each) { return each > most; });
  return found == numbers.end() ? std::nullopt : std::optional(*found);
}

}  // namespace clprobe
