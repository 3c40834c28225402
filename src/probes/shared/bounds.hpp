// SPDX-License-Identifier: Apache-2.0
// What the whole numbers of a point may be: a stored point may say anything. Pure.
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
/// Counts that are made integers, and multiplied with each other.
inline constexpr Bounds count_from_0{.max = std::int64_t{1} << 20U};
inline constexpr Bounds count_from_1{.min = 1, .max = std::int64_t{1} << 20U};

}  // namespace clprobe
