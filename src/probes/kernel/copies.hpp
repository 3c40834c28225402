// SPDX-License-Identifier: Apache-2.0
// Launches of one kernel side by side, in queues of their own. Sees OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "clprobe/device.hpp"

namespace clprobe::kernel {

class Copies {
 public:
  /// Enqueues the kernel once, with an event or, as nullptr, without.
  using Launcher = std::function<void(const cl::CommandQueue&, cl::Event*)>;

  /// So many side by side.
  Copies(Session& session, std::uint64_t count, Launcher launch);

  /// How long a launch takes that has none beside it: the median of so many, one behind the other.
  double alone_ns(std::uint64_t launches);
  /// The time of so many launches in each queue, for each launch of them.
  double each_ns(std::uint64_t launches);

 private:
  std::vector<cl::CommandQueue> queues_{};
  Launcher launch_;
};

}  // namespace clprobe::kernel
