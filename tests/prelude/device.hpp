// SPDX-License-Identifier: Apache-2.0
// One device, and launches of a text with a setting on it.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/api/prelude.hpp"

namespace clprobe::prelude {

using Words = std::vector<std::uint32_t>;

class Device {
 public:
  Device();

  /// Builds `text`, which has the kernel `name` (global const uint* in, global uint* out, uint n).
  [[nodiscard]] cl::Kernel build(const std::string& text, const std::string& name,
                                 const std::string& options = "") const;
  /// `out` behind the launch, whose words were 0xc0ffee before it; n is `in.size()`.
  [[nodiscard]] Words run(cl::Kernel& kernel, const NdRange& launch, const Words& in,
                          std::size_t out_words) const;
  /// Whether it takes any text with these options.
  [[nodiscard]] bool compiles(const std::string& options) const;
  /// Words that are 0.
  [[nodiscard]] cl::Buffer buffer(std::size_t words) const;
  [[nodiscard]] Words read(const cl::Buffer& buffer, std::size_t words) const;
  [[nodiscard]] std::uint32_t compute_units() const;
  [[nodiscard]] bool takes_non_uniform() const { return takes_non_uniform_; }

 private:
  cl::Device device_{};
  cl::Context context_{};
  cl::CommandQueue queue_{};
  bool takes_non_uniform_{false};
};

/// Words that are all different.
Words distinct_words(std::size_t count);

}  // namespace clprobe::prelude
