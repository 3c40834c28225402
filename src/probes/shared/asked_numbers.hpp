// SPDX-License-Identifier: Apache-2.0
// Numbers that a person asked for, against what a device can do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace clprobe {

/// The first of `numbers` that is more than `most`; nothing when all can be done.
inline std::optional<int> find_beyond(const std::vector<int>& numbers, std::int64_t most) {
  const auto found =
      std::find_if(numbers.begin(), numbers.end(), [&](int each) { return each > most; });
  return found == numbers.end() ? std::nullopt : std::optional(*found);
}

}  // namespace clprobe
