// SPDX-License-Identifier: Apache-2.0
// Ranges of the whole numbers of a point, which a stored point may violate. Pure.
#pragma once

#include <cstdint>

namespace clprobe {

/// Range of a whole number of a point. The default maximum exceeds any device's memory in bytes. A
/// divisor is at least 1.
struct Bounds {
  std::int64_t min{0};
  std::int64_t max{std::int64_t{1} << 48U};
};
inline constexpr Bounds from_1{.min = 1};
/// Counts, whose products must fit 64 bits.
inline constexpr Bounds count_from_0{.max = std::int64_t{1} << 20U};
inline constexpr Bounds count_from_1{.min = 1, .max = std::int64_t{1} << 20U};

}  // namespace clprobe
