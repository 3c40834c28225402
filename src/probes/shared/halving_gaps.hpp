// SPDX-License-Identifier: Apache-2.0
// The order in which a first look visits sizes. Pure.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

#include "clprobe/units.hpp"

namespace clprobe {

/// Rising sizes in an order that halves the gaps between those before: wherever time cuts it off,
/// what was measured is spread evenly.
inline std::vector<Bytes> halving_gaps(const std::vector<Bytes>& sizes) {
  if (sizes.size() < 2) return sizes;
  std::vector<Bytes> order{sizes.front(), sizes.back()};
  for (std::size_t gap = std::bit_ceil(sizes.size()); gap > 1; gap /= 2) {
    for (std::size_t i = gap / 2; i + 1 < sizes.size(); i += gap) order.push_back(sizes[i]);
  }
  return order;
}

}  // namespace clprobe
