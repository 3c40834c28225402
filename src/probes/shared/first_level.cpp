// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/first_level.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace clprobe {

int number_of_first(std::span<const CurvePoint> curve, std::span<const Level> levels) {
  return faster_than_first(curve, levels) ? 2 : 1;
}

std::optional<Finding> lost_first_level(std::span<const CurvePoint> curve,
                                        std::span<const Level> levels, Finding first,
                                        const std::function<std::string(const CurvePoint&)>& said) {
  const std::optional<CurvePoint> faster = faster_than_first(curve, levels);
  if (!faster) return std::nullopt;
  first.reason = fmt::format("no plateau, but {} {}: measure more sizes",
                             format_bytes({static_cast<std::uint64_t>(faster->working_set_bytes)}),
                             said(*faster));
  return first;
}

}  // namespace clprobe
