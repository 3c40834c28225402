// SPDX-License-Identifier: Apache-2.0
// Buffers that outlive a point. Sees OpenCL.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clprobe/device.hpp"

namespace clprobe {

/// A buffer that is used again from point to point, since drivers take long to make one; made anew,
/// without what was in it, when a larger one is needed.
class KeptBuffer {
 public:
  /// Drivers give whole pages, and small buffers then share none.
  static constexpr Bytes min_size = kibibytes(4);

  /// What a buffer of so many bytes takes.
  [[nodiscard]] static constexpr Bytes size_for(Bytes wanted) { return std::max(wanted, min_size); }

  /// At least so many bytes. Throws cl::Error.
  const cl::Buffer& at_least(Session& session, std::uint64_t bytes);

 private:
  cl::Buffer buffer_{};
  Bytes size_{};
};

}  // namespace clprobe
