// SPDX-License-Identifier: Apache-2.0
// The memory that the probe `inflight` loads from. Kept by the session from point to point.
#pragma once

#include <cstdint>
#include <memory>

#include "clprobe/device.hpp"
#include "probes/inflight/shape.hpp"

namespace clprobe::inflight {

/// What the loads go to, filled once; and how far they have got in it.
struct Lines {
  std::unique_ptr<HostMemory> host{};  // before the buffer that uses it, so that it outlives it
  cl::Buffer buffer{};
  std::uint64_t position{0};
};

/// A buffer of so many bytes, where the target says.
Lines make_lines(Session& session, std::uint64_t bytes, std::string_view target);

/// The filled lines of a target, made once for all of its points.
Lines& lines_of(Session& session, const InflightShape& shape);

/// Launches a kernel that takes the buffer, the mask and the words of a line, over all lines.
void run_over_lines(Session& session, cl::Kernel kernel, const Lines& lines,
                    const InflightShape& shape);

inline cl_uint as_uint(std::uint64_t value) { return static_cast<cl_uint>(value); }

}  // namespace clprobe::inflight
