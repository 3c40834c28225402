// SPDX-License-Identifier: Apache-2.0
// The host's side of cl/mixed.clh. Pure.
#pragma once

#include <cstdint>

namespace clprobe {

/// A word whose every bit depends on all bits of `x`: a bijection, which maps 0 to 0. lowbias32 of
/// C. Wellons, Prospecting for hash functions, 2018.
constexpr std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16U)) * 0x7feb352d;
  x = (x ^ (x >> 15U)) * 0x846ca68b;
  return x ^ (x >> 16U);
}

}  // namespace clprobe
