// SPDX-License-Identifier: Apache-2.0
// When launches were on the device. Sees OpenCL.
#pragma once

#include <cstdint>

#include "clprobe/device.hpp"

namespace clprobe::kernel {

/// By the device's clock, in ns.
struct Span {
  std::uint64_t begin{0};
  std::uint64_t end{0};
  [[nodiscard]] double ns() const { return static_cast<double>(end - begin); }
};

/// Of a launch that is over, in a queue with profiling.
inline Span span_of(const cl::Event& event) {
  return {event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
}

}  // namespace clprobe::kernel
