// SPDX-License-Identifier: Apache-2.0
// A ring of nodes in one of the memories, and the kernels bound to it. Sees OpenCL. The timed
// launches are in launch.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "clprobe/device.hpp"
#include "clprobe/probe.hpp"
#include "probes/latency/ring_shape.hpp"
#include "probes/latency/series.hpp"
#include "probes/shared/kept_buffer.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/shared/store.hpp"

namespace clprobe::latency {

/// What the rings of an opened probe share. One ring is laid out at a time.
struct Shared {
  Session& session;
  std::optional<Store> store{};
  std::optional<Store> host_store{};  ///< in memory that the host can map
  int huge_page_percent{0};           ///< of the store
  std::uint32_t key;                  ///< of the order of the nodes
  KeptBuffer out{};
  KeptBuffer sink{};

  explicit Shared(Session& of) : session(of), key(permutation_key(of.seed())) {}
};

struct Ring {
  std::shared_ptr<Shared> shared;
  RingShape shape;
  const SeriesSpec* series;
  std::uint32_t key;  ///< of the order of the nodes
  cl::Buffer memory{};
  cl::Buffer out{};   ///< ticks, then where the chase ended
  cl::Buffer sink{};  ///< what sweeps return
  cl::Image1DBuffer image{};
  cl::Kernel chase{};
  cl::Kernel sweep{};
  cl_uint start_argument{0};  ///< of `chase`; then lead, warm, iterations
  cl_uint age_argument{0};    ///< begin, then end, hops
  cl_uint sweep_argument{0};  ///< of `sweep`: begin, then end, hops
  std::uint64_t usual_hops{0};
  std::uint64_t warm{0};  ///< iterations in front of the clock
};

/// Lays the nodes out, builds the chase and launches it once. Throws DeviceError, cl::Error, and
/// Unsupported for what the driver refuses.
Ring make_ring(const std::shared_ptr<Shared>& shared, const Point& point);

}  // namespace clprobe::latency
