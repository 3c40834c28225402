// SPDX-License-Identifier: Apache-2.0
// A bundle's sizes as OpenCL's C++ binding takes them. Sees OpenCL.
#pragma once

#include <cstdint>

#include "clprobe/device.hpp"
#include "clprobe/launch.hpp"

namespace clprobe::kernel {

inline cl::NDRange sizes_of(const bundle::Sizes& sizes, std::uint32_t dimensions) {
  if (dimensions == 1) return cl::NDRange(sizes[0]);
  if (dimensions == 2) return {sizes[0], sizes[1]};
  return {sizes[0], sizes[1], sizes[2]};
}

/// Where all are 0 there are none.
inline cl::NDRange any_sizes_of(const bundle::Sizes& sizes, std::uint32_t dimensions) {
  return sizes == bundle::Sizes{} ? cl::NullRange : sizes_of(sizes, dimensions);
}

}  // namespace clprobe::kernel
