// SPDX-License-Identifier: Apache-2.0
// Concurrent launches: copies of one kernel, each in its own queue, and a kernel of clprobe's that
// loads. Sees OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/api/device.hpp"

namespace clprobe::kernel {

/// The time of a launch by the device's clock, in ns.
struct Span {
  std::uint64_t begin{0};
  std::uint64_t end{0};
  [[nodiscard]] double ns() const { return static_cast<double>(end - begin); }
};

/// The span of a finished launch in a queue with profiling.
inline Span span_of(const cl::Event& event) {
  return {event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
}

class Copies {
 public:
  /// Enqueues the kernel once; the event may be null.
  using Launcher = std::function<void(const cl::CommandQueue&, cl::Event*)>;

  /// Makes a queue for each of `count` copies.
  Copies(Session& session, std::uint64_t count, Launcher launch);

  /// The median time of so many launches in one queue.
  double alone_ns(std::uint64_t launches);
  /// The time of so many launches in each queue, divided by the number of all launches.
  double each_ns(std::uint64_t launches);

 private:
  std::vector<cl::CommandQueue> queues_{};
  Launcher launch_;
};

class LoadNoise {
 public:
  /// `options`: of its kernel's build; `room`: the buffer that it reads.
  LoadNoise(Session& session, std::string options, cl::Buffer room, std::uint64_t room_bytes);

  /// Launches that many loads, and returns once they run, if the driver reports that.
  cl::Event start(std::uint32_t amount);
  /// Waits until all launches are over.
  void finish();

  /// The time of that many loads alone.
  double alone_ns(std::uint32_t amount);
  /// The number of loads that outlasts a kernel of so many ns. Throws Unsupported if no number of
  /// loads takes time.
  std::uint32_t amount_for(double kernel_ns);

 private:
  cl::Event launch(std::uint32_t amount);

  Session& session_;
  std::string options_;
  cl::Buffer room_;
  std::uint64_t room_bytes_;
  cl::CommandQueue queue_;
};

}  // namespace clprobe::kernel
