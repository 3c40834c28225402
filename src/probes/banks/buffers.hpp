// SPDX-License-Identifier: Apache-2.0
// What all points of the probe share on the device, freed when the probe ends, and a launch that
// leaves its result there.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "clprobe/device.hpp"
#include "probes/banks/access.hpp"

namespace clprobe::banks {

struct Buffers {
  explicit Buffers(Session& of) : session(of) {}

  /// Room for so many bytes.
  const cl::Buffer& offsets(std::uint64_t bytes) {
    if (bytes_ < bytes) {
      offsets_ = cl::Buffer(session.context(), CL_MEM_READ_ONLY, bytes);
      bytes_ = bytes;
    }
    return offsets_;
  }

  const cl::Buffer& results() {
    if (results_() == nullptr) {
      results_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE,
                            2 * launches_of_model * sizeof(cl_ulong));
    }
    return results_;
  }

  /// One launch of one group, which leaves its ticks and its witness in `results`. The accesses and
  /// the expected witness are the caller's.
  Measurement launch(const cl::Kernel& kernel, std::uint64_t items) {
    const std::array<cl_ulong, 2> nothing{never, never};
    session.queue().enqueueWriteBuffer(results(), CL_TRUE, 0, sizeof nothing, nothing.data());
    const LaunchTimes times = session.launch(kernel, cl::NDRange(items), cl::NDRange(items));
    std::array<cl_ulong, 2> out{};
    session.queue().enqueueReadBuffer(results(), CL_TRUE, 0, sizeof out, out.data());
    Measurement measurement;
    if (session.info().clock.kind != ClockKind::none) measurement.sample.ticks = out[0];
    measurement.sample.event_ns = times.event_ns;
    measurement.sample.host_ns = times.host_ns;
    measurement.sample.witness = out[1];
    return measurement;
  }

  /// The largest group of this kernel.
  [[nodiscard]] std::uint64_t max_items(const cl::Kernel& kernel) const {
    return kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session.device());
  }

  Session& session;

 private:
  cl::Buffer offsets_{};
  cl::Buffer results_{};
  std::uint64_t bytes_{0};
};

[[noreturn]] inline void refuse_group(std::uint64_t items, std::uint64_t max) {
  throw Unsupported(
      fmt::format("the driver runs this kernel with at most {} work-items, not {}", max, items));
}

}  // namespace clprobe::banks
