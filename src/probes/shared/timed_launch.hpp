// SPDX-License-Identifier: Apache-2.0
// Building, launching and timing the kernels of a probe, and reading their results. Uses OpenCL.
#pragma once

#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "measure/api/device.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe {

/// A build of a probe's kernel file. `kernel` finds its kernels by name.
struct KernelSpec {
  std::string_view file{};
  std::string options{};
  std::string preamble{};

  /// Builds the file on the first call. Throws DeviceError.
  cl::Kernel kernel(Session& session, const char* name) const {
    return session.kernel(file, name, options, preamble);
  }
  [[nodiscard]] KernelBuild build(const Session& session) const {
    return session.build_of(file, options);
  }
};

/// Sets the arguments of a kernel from `index` on. Returns the index that follows the last one.
template <typename... Arguments>
cl_uint set_arguments(cl::Kernel& kernel, cl_uint index, const Arguments&... arguments) {
  (static_cast<void>(kernel.setArg(index++, arguments)), ...);
  return index;
}

/// Launches a kernel over so many work-items, waits, and returns the times.
inline LaunchTimes launch_over(Session& session, const cl::Kernel& kernel, const LaunchSize& size) {
  return session.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
}

/// The first `count` values of a buffer.
template <typename Value>
std::vector<Value> read_values(const Session& session, const cl::Buffer& from,
                               std::uint64_t count) {
  std::vector<Value> values(count);
  session.queue().enqueueReadBuffer(from, CL_TRUE, 0, count * sizeof(Value), values.data());
  return values;
}

/// The measurement of a launch, without ticks and witness.
inline Measurement measurement_of(const LaunchTimes& times, std::uint64_t accesses) {
  Measurement measurement;
  measurement.sample.accesses = accesses;
  measurement.sample.event_ns = times.event_ns;
  measurement.sample.host_ns = times.host_ns;
  return measurement;
}

/// Launches a kernel that leaves in `out` its ticks and then `witnesses` numbers, whose sum is the
/// witness. The caller knows what the witness has to be. Throws cl::Error.
inline Measurement timed_launch(Session& session, const cl::Kernel& kernel, const LaunchSize& size,
                                const cl::Buffer& out, std::uint64_t accesses,
                                std::uint64_t witnesses = 1) {
  // A launch that stores nothing must not find the result of the launch before it.
  const std::vector<cl_ulong> nothing(1 + witnesses, never);
  session.queue().enqueueWriteBuffer(out, CL_TRUE, 0, nothing.size() * sizeof(cl_ulong),
                                     nothing.data());
  Measurement measurement = measurement_of(launch_over(session, kernel, size), accesses);
  const auto found = read_values<cl_ulong>(session, out, nothing.size());
  if (session.info().clock.kind != ClockKind::none) measurement.sample.ticks = found.front();
  measurement.sample.witness = std::accumulate(found.begin() + 1, found.end(), std::uint64_t{0});
  return measurement;
}

/// Returns the time of an action on the host's steady clock, in nanoseconds.
template <typename Action>
std::uint64_t host_ns_of(const Action& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  const auto took = std::chrono::steady_clock::now() - begin;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
}

}  // namespace clprobe
