// SPDX-License-Identifier: Apache-2.0
// What all points of the probe share on the device: freed when the probe ends.
#pragma once

#include <cstdint>

#include "clprobe/device.hpp"
#include "probes/banks/access.hpp"

namespace clprobe::banks {

struct Buffers {
  explicit Buffers(Session& of) : session(of) {}

  /// Room for so many bytes.
  const cl::Buffer& offsets(std::uint64_t bytes) {
    if (bytes_ < bytes) {
      offsets_ = cl::Buffer(session.context(), CL_MEM_READ_ONLY, bytes);
      bytes_ = bytes;
    }
    return offsets_;
  }

  const cl::Buffer& results() {
    if (results_() == nullptr) {
      results_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE,
                            2 * launches_of_model * sizeof(cl_ulong));
    }
    return results_;
  }

  Session& session;

 private:
  cl::Buffer offsets_{};
  cl::Buffer results_{};
  std::uint64_t bytes_{0};
};

}  // namespace clprobe::banks
