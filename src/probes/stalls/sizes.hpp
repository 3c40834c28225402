// SPDX-License-Identifier: Apache-2.0
// How large the arrays and the groups of kernels are on a device. Pure.
#pragma once

#include <cstdint>

#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

/// Arrays of which loads hit main memory, the second-level cache, and the first. All powers of two.
struct WorkingSets {
  std::uint64_t far_bytes{0};
  std::uint64_t near_bytes{0};
  std::uint64_t first_bytes{0};
  bool is_lumped{false};  ///< no memory for more than the caches may hold

  [[nodiscard]] static WorkingSets of(const DeviceInfo& device, const Asked& asked);
};

/// Of the array that no cache is to hold.
inline constexpr Bytes min_far_bytes = kibibytes(16);

/// Work-items of a group, at most `at_most`: a power of two.
std::int64_t group_size(const DeviceInfo& device, std::int64_t at_most);

}  // namespace clprobe::stalls
