// SPDX-License-Identifier: Apache-2.0
// Buffers that outlive a point. Uses OpenCL.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "measure/api/device.hpp"

namespace clprobe {

/// Memory that a probe's loads go to: a buffer of the driver's, or on a CPU device a buffer over
/// pages of the host, which are huge if the system gives such.
struct Store {
  std::unique_ptr<HostMemory> host{};  // before the buffer that uses it, so that it outlives it
  cl::Buffer buffer{};
  Bytes size{};
};

/// Makes a store. `place` is added to the flags of the driver's own buffer. Throws cl::Error.
Store make_store(Session& session, Bytes size, cl_mem_flags place = 0);

/// Coarse-grained shared virtual memory, freed with the last pointer. Null where the driver has
/// not so much.
std::shared_ptr<void> make_shared_virtual(const Session& session, Bytes size);

/// Makes shared virtual memory an argument of a kernel. Throws cl::Error.
void bind_shared_virtual(cl::Kernel& kernel, cl_uint index, const void* begin);

/// A small buffer that is used again from point to point, since drivers take long to make one. It
/// is made anew, without its contents, when a larger one is needed.
class KeptBuffer {
 public:
  /// Drivers give whole pages, and small buffers then share none.
  static constexpr Bytes min_size = kibibytes(4);

  /// Memory that a buffer of so many bytes takes.
  [[nodiscard]] static constexpr Bytes size_for(Bytes wanted) { return std::max(wanted, min_size); }

  /// The buffer, with room for so many bytes. Throws cl::Error.
  const cl::Buffer& at_least(Session& session, std::uint64_t bytes);

 private:
  cl::Buffer buffer_{};
  Bytes size_{};
};

}  // namespace clprobe
