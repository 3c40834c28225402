// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/kept_buffer.hpp"

#include <fmt/format.h>

namespace clprobe {

cl::Buffer kept_buffer(Session& session, const char* name, std::uint64_t bytes) {
  constexpr std::uint64_t least_bytes = 1U << 16U;
  std::uint64_t size = least_bytes;
  while (size < bytes) size *= 2;
  return session.keep<cl::Buffer>(fmt::format("{} {}", name, size), [&] {
    return cl::Buffer(session.context(), CL_MEM_READ_WRITE, size);
  });
}

}  // namespace clprobe
