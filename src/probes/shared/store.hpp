// SPDX-License-Identifier: Apache-2.0
// The memory that a probe's loads go to. Sees OpenCL.
#pragma once

#include <memory>

#include "clprobe/device.hpp"

namespace clprobe {

/// A buffer of the driver's; where the device is the CPU, one over pages of the host that are huge
/// if the system gives such.
struct Store {
  std::unique_ptr<HostMemory> host{};  // before the buffer that uses it, so that it outlives it
  cl::Buffer buffer{};
  Bytes size{};
};

/// `place` is added to the flags of the driver's own buffer. Throws cl::Error.
Store make_store(Session& session, Bytes size, cl_mem_flags place = 0);

}  // namespace clprobe
