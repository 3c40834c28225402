// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/kept_buffer.hpp"

namespace clprobe {

const cl::Buffer& KeptBuffer::at_least(Session& session, std::uint64_t bytes) {
  if (size_.count < bytes || size_.count == 0) {
    // The old one first: both together may be more memory than is allowed.
    buffer_ = cl::Buffer();
    size_ = Bytes{};
    const Bytes size = size_for({bytes});
    buffer_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE, size.count);
    size_ = size;
  }
  return buffer_;
}

}  // namespace clprobe
