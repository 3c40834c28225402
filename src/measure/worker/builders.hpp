// SPDX-License-Identifier: Apache-2.0
// Child processes that build programs ahead: a driver that keeps what it built in a cache on disk
// then has them when they are needed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "measure/api/worker.hpp"

namespace clprobe {

/// Returns the number of processes to start for a device. NVIDIA's compiler gains little from
/// threads (128 programs: 22.5 s with 1, 15.6 s with 8) and much from processes (4.7 s with 8).
/// A CPU would be disturbed, and each process takes some hundred MiB of a GPU's memory.
std::size_t builder_count(const DeviceInfo& device, std::size_t host_cores);

class Builders {
 public:
  /// Starts the building of `programs`, the first ones first. What fails will fail again where it
  /// is needed, so that nothing is said of it here.
  Builders(const DeviceInfo& device, const WorkerSettings& settings,
           const std::vector<Program>& programs, std::size_t count);

 private:
  std::vector<std::unique_ptr<ChildProcess>> children_{};  // killed with this object
};

}  // namespace clprobe
