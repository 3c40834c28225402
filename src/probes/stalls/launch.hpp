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

/// Build options of stalls_mixed. `with_stamps` reads clocks at the beginning, the end and the
/// barriers of sub-groups. `with_ends` reads no clocks at barriers, for CPUs: a core would read the
/// clocks of one work-item after another.
inline constexpr std::string_view with_stamps = " -DSTAMPS=1";
inline constexpr std::string_view with_ends = " -DSTAMPS=2";

/// State that the points of an opened probe share.
struct Shared {
  Session& session;
  KeptBuffer data{};              ///< array to load from; each word depends on its line
  KeptBuffer copies{};            ///< array for copies of the data and for stores
  KeptBuffer results{};           ///< results of work-items
  KeptBuffer stamps{};            ///< clock readings
  std::uint64_t filled_bytes{0};  ///< size of the part of `data` that is filled
  /// Number of the last launch. The data of a launch depend on its number. Caches then do not
  /// contain the data, and results of an earlier launch fail the check.
  cl_uint last_launch{0};
  std::set<std::string> launched{};  ///< build options of which a launch was made

  explicit Shared(Session& owner) : session(owner) {}

  /// Returns the data array with at least `bytes`, filled. Throws cl::Error.
  const cl::Buffer& filled_data(std::uint64_t bytes);
  /// Makes an untimed launch, because some drivers compile at the first launch. CPUs get an untimed
  /// launch for every point, because their drivers compile for each group size. GPUs get an untimed
  /// launch for each set of build options.
  void launch_first(const std::string& options, const std::function<void()>& launch);
};

/// Returns the build options of a part of cl/stalls.cl. `has_clock`: groups of more than one
/// work-item read the clock in this part. On CPUs, such a clock must not use assembly.
std::string part_options(int part, bool has_clock, const DeviceInfo& device);

/// Throws Unsupported if the driver refuses groups of `work_items` for the kernel.
void require_group(const Session& session, const cl::Kernel& kernel, std::uint64_t work_items);

/// Reads one word of a buffer. Throws cl::Error.
cl_uint word_at(const Session& session, const cl::Buffer& words, std::uint64_t index);

/// Limits of the launches of a kernel with many iterations.
struct LaunchPlan {
  std::uint64_t few;            ///< iterations of a launch that determines their time
  std::uint64_t max;            ///< maximum iterations of a launch
  std::uint64_t cpu_launch_ns;  ///< target time on a CPU; launches on a GPU take 0.3 ms
  bool is_phase;  ///< true if only one phase of the kernel is timed, which can take almost no time
  std::string options;
};

/// Returns work with the number of iterations that fits the target time, after trial launches by
/// `run`, which launches a number of iterations.
Work work_of(Shared& shared, const LaunchPlan& plan, std::function<Measurement(std::uint64_t)> run);

}  // namespace clprobe::stalls
