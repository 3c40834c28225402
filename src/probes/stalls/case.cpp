// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/case.hpp"

#include <algorithm>
#include <bit>

namespace clprobe::stalls {

WorkingSets WorkingSets::of(const DeviceInfo& device, const Asked& asked) {
  // A GPU's first-level cache holds up to 256 KiB, its second from 4 MiB on; a CPU's first 32 KiB
  // and its second from 512 KiB on.
  const Bytes usual = is_gpu(device) ? mebibytes(512) : mebibytes(128);
  const Bytes near = is_gpu(device) ? mebibytes(2) : kibibytes(256);
  const Bytes largest_cache = is_gpu(device) ? mebibytes(64) : mebibytes(16);
  Bytes most = std::min(device.max_allocation, device.global_memory / 4);
  if (asked.max_data.count != 0) most = std::min(most, asked.max_data);
  most = std::min(most, gibibytes(1));
  const Bytes wish = std::max(usual, asked.last_cache * 4);
  WorkingSets sets;
  sets.far_bytes = std::max(std::bit_floor(std::min(wish, most).count), min_far_bytes.count);
  sets.near_bytes = std::min(near.count, sets.far_bytes / 4);
  sets.first_bytes = std::min(kibibytes(8).count, sets.near_bytes / 2);
  sets.is_lumped = sets.far_bytes < 2 * std::max(largest_cache, asked.last_cache).count;
  return sets;
}

std::int64_t group_size(const DeviceInfo& device, std::int64_t at_most) {
  const std::int64_t allowed = std::max<std::int64_t>(device.max_work_group_size, 1);
  return static_cast<std::int64_t>(std::bit_floor(std::uint64_t(std::min(at_most, allowed))));
}

}  // namespace clprobe::stalls
