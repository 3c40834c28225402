// SPDX-License-Identifier: Apache-2.0
// Buffers that outlive a point. Part of `prepare`: sees OpenCL.
#pragma once

#include <cstdint>

#include "clprobe/device.hpp"

namespace clprobe {

/// A buffer of this name and at least so many bytes that is used again from point to point, since
/// drivers take long to make one. Throws cl::Error.
cl::Buffer kept_buffer(Session& session, const char* name, std::uint64_t bytes);

}  // namespace clprobe
