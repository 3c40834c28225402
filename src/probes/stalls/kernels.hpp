// SPDX-License-Identifier: Apache-2.0
// What points of `stalls` on real devices are prepared by, each by its part of cl/stalls.cl. Part
// of `prepare`: sees OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "clprobe/device.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::stalls {

inline constexpr std::string_view stalls_file = "stalls.cl";

/// The build option of stalls_mixed with clocks.
inline constexpr std::string_view with_stamps = " -DSTAMPS=1";

/// The build options of a part of cl/stalls.cl. `has_clock`: it reads the clock in groups of
/// several work-items, which on CPUs must do without assembly.
std::string part_options(int part, bool has_clock, const DeviceInfo& device);

/// Throws Unsupported where the driver does not run so many work-items of the kernel in a group.
void require_group(const Session& session, const cl::Kernel& kernel, std::uint64_t work_items);

/// Numbers the launches of a session that have this name: what one does follows from its number, so
/// that it neither finds in caches what the last one loaded nor passes for right with its results.
class LaunchNumbers {
 public:
  LaunchNumbers(Session& session, const std::string& name);
  cl_uint next() { return ++*last_; }

 private:
  std::shared_ptr<cl_uint> last_;
};

/// How a kernel of many iterations is launched.
struct LaunchSize {
  std::uint64_t few;            ///< iterations that tell how long one takes
  std::uint64_t cpu_launch_ns;  ///< wanted of a launch on a CPU; on a GPU it is a millisecond
  bool is_phase;  ///< a part of the kernel that may take no time, however long it runs
  std::string options;
};

/// Runs once, since some drivers compile only then, then `few` iterations, from which follow those
/// of a sample. `run` runs so many.
Work work_of(Session& session, const LaunchSize& size,
             std::function<Measurement(std::uint64_t)> run);

/// The buffer that all points share, of at least so many words, each of which says in which line it
/// is. Throws cl::Error.
cl::Buffer stalls_data(Session& session, std::uint64_t words);

Work prepare_micro(Session& session, const Point& point);
Work prepare_copy(Session& session, const Point& point);
Work prepare_search(Session& session, const Point& point);

}  // namespace clprobe::stalls
