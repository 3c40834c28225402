// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/pattern_points.hpp"

#include <algorithm>

#include "probes/shared/fields.hpp"

namespace clprobe::banks {

std::vector<Pattern> patterns_for(const DeviceInfo& device, const Asked& asked, int word) {
  const bool is_whole = asked.effort != Effort::quick && !runs_items_in_turn(device);
  std::vector<Pattern> patterns =
      survey_patterns(asked_or(asked.strides, survey_strides(is_whole)));
  const int lanes = static_cast<int>(lanes_of(device));
  std::erase_if(patterns, [&](const Pattern& pattern) {
    return footprint_of(pattern, word, lanes) > room_of(device);
  });
  return patterns;
}

std::uint64_t array_bytes(const DeviceInfo& device, const Asked& asked, int word) {
  std::uint64_t footprint = pattern_block_bytes;
  for (const Pattern& pattern : patterns_for(device, asked, word)) {
    footprint =
        std::max(footprint, footprint_of(pattern, word, static_cast<int>(lanes_of(device))));
  }
  return footprint + behind_footprint_bytes;
}

Point point_of(const AccessKind& kind, const Shape& shape) {
  Point point;
  point.series = kind.name;
  write_shape(shape, point);
  return point;
}

}  // namespace clprobe::banks
