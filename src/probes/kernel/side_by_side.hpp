// SPDX-License-Identifier: Apache-2.0
// Launches next to each other: copies of one kernel, each in a queue of its own, and a kernel of
// clprobe's that loads. Sees OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "clprobe/device.hpp"

namespace clprobe::kernel {

/// By the device's clock, in ns.
struct Span {
  std::uint64_t begin{0};
  std::uint64_t end{0};
  [[nodiscard]] double ns() const { return static_cast<double>(end - begin); }
};

/// Of a launch that is over, in a queue with profiling.
inline Span span_of(const cl::Event& event) {
  return {event.getProfilingInfo<CL_PROFILING_COMMAND_START>(),
          event.getProfilingInfo<CL_PROFILING_COMMAND_END>()};
}

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

class LoadNoise {
 public:
  /// `options` are its kernel's, `room` of so many bytes is what it reads.
  LoadNoise(Session& session, std::string options, cl::Buffer room, std::uint64_t room_bytes);

  /// Launches so much of it, and comes back once it runs, as far as the driver tells that.
  cl::Event start(std::uint32_t amount);
  /// Until all that was launched is over.
  void finish();

  /// How long so much takes with nothing beside it.
  double alone_ns(std::uint32_t amount);
  /// So much that it outlasts a kernel of so many ns. Throws Unsupported where none takes time.
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
