// SPDX-License-Identifier: Apache-2.0
// Buffers, launch numbers and iterations that the launches of all cases share. Uses OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "clprobe/probe.hpp"
#include "measure/api/device.hpp"
#include "probes/shared/store.hpp"
#include "probes/shared/work_group.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

inline constexpr std::string_view kernel_file = "stalls.cl";

/// The build options of stalls_mixed with clocks at the beginning, the end and the barriers of
/// sub-groups, and without those at barriers: a CPU's core would read these for one work-item after
/// another.
inline constexpr std::string_view with_stamps = " -DSTAMPS=1";
inline constexpr std::string_view with_ends = " -DSTAMPS=2";

/// The state that the points of an opened probe share.
struct Shared {
  Session& session;
  KeptBuffer data{};              ///< each word is derived from its line
  KeptBuffer copies{};            ///< copies of the data, and stores
  KeptBuffer results{};           ///< of work-items
  KeptBuffer stamps{};            ///< of clocks
  std::uint64_t filled_bytes{0};  ///< of the data
  /// The number of the last launch. The work of a launch follows from its number, so that it
  /// neither finds the last one's data in caches nor passes with the last one's results.
  cl_uint last_launch{0};
  std::set<std::string> launched{};  ///< build options

  explicit Shared(Session& owner) : session(owner) {}

  /// The filled array, of at least so many bytes. Throws cl::Error.
  const cl::Buffer& filled_data(std::uint64_t bytes);
  /// Makes a launch that is not timed, because some drivers compile only then: on CPUs for each
  /// group size, on others once for the options.
  void launch_first(const std::string& options, const std::function<void()>& launch);
};

/// The build options of a part of cl/stalls.cl. `has_clock`: the part reads the clock in groups of
/// several work-items, which needs a clock without assembly on CPUs.
std::string part_options(int part, bool has_clock, const DeviceInfo& device);

/// Throws Unsupported if the driver does not run so many work-items of the kernel in a group.
void require_group(const Session& session, const cl::Kernel& kernel, std::uint64_t work_items);

/// Reads one word of a buffer. Throws cl::Error.
cl_uint word_at(const Session& session, const cl::Buffer& words, std::uint64_t place);

/// The launches of a kernel with many iterations.
struct LaunchPlan {
  std::uint64_t few;            ///< iterations that show how long one takes
  std::uint64_t max;            ///< iterations of a launch
  std::uint64_t cpu_launch_ns;  ///< wanted time on a CPU; a GPU's is 0.3 ms
  bool is_phase;                ///< times a part of the kernel, which may take no time
  std::string options;
};

/// Runs `few` iterations, and chooses those of a sample from their time. `run` runs a number of
/// iterations.
Work work_of(Shared& shared, const LaunchPlan& plan, std::function<Measurement(std::uint64_t)> run);

}  // namespace clprobe::stalls
