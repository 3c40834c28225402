// SPDX-License-Identifier: Apache-2.0
// A ring of nodes in one of the memories, and the kernels bound to it. The launches are in
// chase.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/device.hpp"
#include "clprobe/probe.hpp"
#include "probes/latency/chase.hpp"
#include "probes/shared/store.hpp"

namespace clprobe::latency {

/// Owns all that the kernels' arguments refer to, but for the store, which is the session's.
struct Ring {
  Shape shape;
  Space space;
  std::vector<std::uint32_t> order{};
  cl::Buffer order_buffer{};
  cl::Buffer out{};  ///< ticks, then where the chase ended
  cl::Buffer memory{};
  cl::Image1DBuffer image{};
  cl::Kernel chase{};
  cl::Kernel sweep{};
  cl_uint start_argument{0};    ///< of `chase`; then lead, warm, iterations
  cl_uint age_argument{0};      ///< begin, then end, hops
  const Store* store{nullptr};  ///< null for rings that are not cut from a store
  std::uint64_t usual_hops{0};
  std::uint64_t warm{0};  ///< iterations in front of the clock
};

/// Lays the nodes out, builds the chase and launches it once. Throws DeviceError, cl::Error, and
/// Unsupported for what the driver refuses.
Ring make_ring(Session& session, const Point& point);

}  // namespace clprobe::latency
