// SPDX-License-Identifier: Apache-2.0
// Buffers of a probe, and building, launching and timing its kernels. Uses OpenCL.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "measure/api/device.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe {

/// Throws cl::Error unless `status` is CL_SUCCESS. Used for calls that CL/opencl.hpp does not
/// wrap. The string `call` must outlive the error.
inline void expect_success(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw cl::Error(status, call);
}

/// Memory for a probe's loads. On a CPU device the memory is a buffer over host pages. Huge pages
/// are used if the system provides huge pages. On other devices the driver allocates the buffer.
struct Store {
  std::unique_ptr<HostMemory> host{};  // declared first, so that it is destroyed after the buffer
  cl::Buffer buffer{};
  Bytes size{};
};

/// Makes a store. `flags` apply only to a buffer that the driver allocates, in addition to its
/// usual flags. Throws cl::Error.
Store make_store(Session& session, Bytes size, cl_mem_flags flags = 0);

/// Allocates coarse-grained shared virtual memory. The last copy of the returned pointer frees the
/// memory. Returns null if the driver refuses the size.
std::shared_ptr<void> make_shared_virtual(const Session& session, Bytes size);

/// Sets shared virtual memory as an argument of a kernel. Throws cl::Error.
void bind_shared_virtual(cl::Kernel& kernel, cl_uint index, const void* begin);

/// Small buffer that all points of a probe share, since drivers take long to allocate buffers. A
/// request for a larger size replaces the buffer and drops its contents.
class KeptBuffer {
 public:
  /// Returns the buffer, which has at least `bytes` bytes. Throws cl::Error.
  const cl::Buffer& at_least(Session& session, std::uint64_t bytes);

 private:
  cl::Buffer buffer_{};
  Bytes size_{};
};

/// Kernel file of a probe with its build options.
struct KernelSpec {
  std::string_view file{};
  std::string options{};
  std::string preamble{};

  /// Returns the kernel `name`. The first call builds the file. Throws DeviceError.
  cl::Kernel kernel(Session& session, const char* name) const {
    return session.kernel(file, name, options, preamble);
  }
  [[nodiscard]] KernelBuild build(const Session& session) const {
    return session.build_of(file, options);
  }
};

/// Sets the arguments of a kernel, starting at `index`. Returns the index after the last argument.
template <typename... Arguments>
cl_uint set_arguments(cl::Kernel& kernel, cl_uint index, const Arguments&... arguments) {
  (static_cast<void>(kernel.setArg(index++, arguments)), ...);
  return index;
}

/// Throws Unsupported if the driver runs the kernel only with fewer than `items` work-items.
inline void check_group(const Session& session, const cl::Kernel& kernel, std::uint64_t items) {
  const auto max = kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session.device());
  if (items <= max) return;
  throw Unsupported(fmt::format(
      "the driver runs this kernel with at most {} work-items per work-group, but the probe needs "
      "{}",
      max, items));
}

inline LaunchTimes launch_over(Session& session, const cl::Kernel& kernel, const LaunchSize& size) {
  return session.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
}

template <typename Value>
std::vector<Value> read_values(const Session& session, const cl::Buffer& from,
                               std::uint64_t count) {
  std::vector<Value> values(count);
  session.queue().enqueueReadBuffer(from, CL_TRUE, 0, count * sizeof(Value), values.data());
  return values;
}

/// Makes the measurement of a launch, without ticks and checksum.
inline Measurement measurement_of(const LaunchTimes& times, std::uint64_t accesses) {
  Measurement measurement;
  measurement.sample.accesses = accesses;
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  return measurement;
}

/// Launches a kernel that writes its ticks and then `witnesses` numbers to `out`. The sum of these
/// numbers is the checksum of the sample; the caller sets the expected checksum. Throws cl::Error.
inline Measurement timed_launch(Session& session, const cl::Kernel& kernel, const LaunchSize& size,
                                const cl::Buffer& out, std::uint64_t accesses,
                                std::uint64_t witnesses = 1) {
  // The buffer is reset, so that a launch that stores nothing fails the check of the sample.
  const std::vector<cl_ulong> nothing(1 + witnesses, never);
  session.queue().enqueueWriteBuffer(out, CL_TRUE, 0, nothing.size() * sizeof(cl_ulong),
                                     nothing.data());
  Measurement measurement = measurement_of(launch_over(session, kernel, size), accesses);
  const auto found = read_values<cl_ulong>(session, out, nothing.size());
  if (session.info().clock.kind != ClockKind::none) measurement.sample.ticks = found.front();
  measurement.sample.witness = std::accumulate(found.begin() + 1, found.end(), std::uint64_t{0});
  return measurement;
}

/// Times an action with the host's steady clock, in nanoseconds.
template <typename Action>
std::uint64_t host_ns_of(const Action& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  const auto took = std::chrono::steady_clock::now() - begin;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
}

}  // namespace clprobe
