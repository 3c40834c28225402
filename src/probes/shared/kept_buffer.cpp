// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/kept_buffer.hpp"

#include <fmt/format.h>

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

cl::Buffer kept_buffer(Session& session, const char* name, std::uint64_t bytes) {
  constexpr std::uint64_t min_bytes = 1U << 16U;
  std::uint64_t size = min_bytes;
  while (size < bytes) size *= 2;
  return session.keep<cl::Buffer>(fmt::format("{} {}", name, size), [&] {
    return cl::Buffer(session.context(), CL_MEM_READ_WRITE, size);
  });
}

}  // namespace clprobe
