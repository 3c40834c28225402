// SPDX-License-Identifier: Apache-2.0
// What the launches of all cases share: buffers, numbers and how often a kernel goes round. Sees
// OpenCL.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "clprobe/device.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/work_group.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

inline constexpr std::string_view kernel_file = "stalls.cl";

/// The build options of stalls_mixed with clocks where sub-groups begin, end and meet, and of that
/// without those where they meet: a CPU's core would read them for one work-item after another.
inline constexpr std::string_view with_stamps = " -DSTAMPS=1";
inline constexpr std::string_view with_ends = " -DSTAMPS=2";

/// A buffer that is used again from point to point, since drivers take long to make one, and made
/// anew when a point needs a larger one.
class SharedBuffer {
 public:
  /// Whether it was made now. Throws cl::Error.
  bool hold(const cl::Context& context, std::uint64_t bytes);
  [[nodiscard]] const cl::Buffer& buffer() const { return buffer_; }

 private:
  cl::Buffer buffer_{};
  std::uint64_t bytes_{0};
};

/// What the points of an opened probe share.
struct Shared {
  Session& session;
  SharedBuffer data{};     ///< each word says in which line it is
  SharedBuffer copies{};   ///< where copies of it go
  SharedBuffer results{};  ///< of work-items
  SharedBuffer stamps{};   ///< of clocks
  /// Launches are numbered: what one does follows from its number, so that it neither finds in
  /// caches what the last one loaded nor passes for right with its results.
  cl_uint last_launch{0};
  std::set<std::string> launched{};  ///< build options

  explicit Shared(Session& owner) : session(owner) {}

  /// The array, of at least so many bytes, filled. Throws cl::Error.
  const cl::Buffer& filled_data(std::uint64_t bytes);
  /// One of the others, with whatever an earlier launch left there. Throws cl::Error.
  const cl::Buffer& held(SharedBuffer Shared::*which, std::uint64_t bytes);
  /// Makes a launch that is not timed, since some drivers compile only then: of CPUs for each size
  /// of a group, of others once for the options.
  void launch_first(const std::string& options, const std::function<void()>& launch);
};

/// The build options of a part of cl/stalls.cl. `has_clock`: it reads the clock in groups of
/// several work-items, which on CPUs must do without assembly.
std::string part_options(int part, bool has_clock, const DeviceInfo& device);

/// Throws Unsupported where the driver does not run so many work-items of the kernel in a group.
void require_group(const Session& session, const cl::Kernel& kernel, std::uint64_t work_items);

/// The word of a buffer at a place. Throws cl::Error.
cl_uint word_at(const Session& session, const cl::Buffer& words, std::uint64_t place);

/// How a kernel of many iterations is launched.
struct LaunchSize {
  std::uint64_t few;            ///< iterations that tell how long one takes
  std::uint64_t max;            ///< iterations of a launch
  std::uint64_t cpu_launch_ns;  ///< wanted of a launch on a CPU; on a GPU it is half a millisecond
  bool is_phase;  ///< a part of the kernel that may take no time, however long it runs
  std::string options;
};

/// Runs `few` iterations, from which follow those of a sample. `run` runs so many.
Work work_of(Shared& shared, const LaunchSize& size, std::function<Measurement(std::uint64_t)> run);

}  // namespace clprobe::stalls
