// SPDX-License-Identifier: Apache-2.0
// Buffers, launch numbers and iterations that all cases share. Uses OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "clprobe/probe.hpp"
#include "measure/api/device.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

inline constexpr std::string_view kernel_file = "stalls.cl";

/// Build options of stalls_mixed: `with_stamps` reads clocks at the beginning, the end and the
/// barriers of sub-groups, `with_ends` not at barriers. A CPU's core would read clocks at barriers
/// for one work-item after another.
inline constexpr std::string_view with_stamps = " -DSTAMPS=1";
inline constexpr std::string_view with_ends = " -DSTAMPS=2";

/// State that the points of an opened probe share.
struct Shared {
  Session& session;
  KeptBuffer data{};              ///< array to load from; each word depends on its line
  KeptBuffer copies{};            ///< array for copies of the data and for stores
  KeptBuffer results{};           ///< results of work-items
  KeptBuffer stamps{};            ///< clock readings
  std::uint64_t filled_bytes{0};  ///< filled part of the data
  /// Number of the last launch. The work of a launch depends on its number, so that caches do not
  /// contain its data, and results of an earlier launch are wrong.
  cl_uint last_launch{0};
  std::set<std::string> launched{};  ///< build options that a launch has used

  explicit Shared(Session& owner) : session(owner) {}

  /// Returns the filled array of at least `bytes`. Throws cl::Error.
  const cl::Buffer& filled_data(std::uint64_t bytes);
  /// Makes an untimed launch, because some drivers compile at the first launch: on CPUs for each
  /// group size, on other devices once for the options.
  void launch_first(const std::string& options, const std::function<void()>& launch);
};

/// Returns the build options of a part of cl/stalls.cl. `has_clock`: the part reads the clock in
/// groups of several work-items, which needs a clock without assembly on CPUs.
std::string part_options(int part, bool has_clock, const DeviceInfo& device);

/// Throws Unsupported if the driver refuses `work_items` of the kernel in a group.
void require_group(const Session& session, const cl::Kernel& kernel, std::uint64_t work_items);

/// Reads one word of a buffer. Throws cl::Error.
cl_uint word_at(const Session& session, const cl::Buffer& words, std::uint64_t index);

/// Limits of the launches of a kernel with many iterations.
struct LaunchPlan {
  std::uint64_t few;            ///< iterations from which the time of one follows
  std::uint64_t max;            ///< maximum iterations of a launch
  std::uint64_t cpu_launch_ns;  ///< target time on a CPU; on a GPU, it is 0.3 ms
  bool is_phase;                ///< true if a part of the kernel is timed, which may take no time
  std::string options;
};

/// Returns work whose number of iterations follows from the time of `few` iterations. `run`: runs a
/// number of iterations.
Work work_of(Shared& shared, const LaunchPlan& plan, std::function<Measurement(std::uint64_t)> run);

}  // namespace clprobe::stalls
