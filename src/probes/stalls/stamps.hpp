// SPDX-License-Identifier: Apache-2.0
// When the parts of a launch began and ended by clocks in the kernel, and what that makes of a
// phase. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe::stalls {

/// Phases that are told by stamps. `barrier`: what a sub-group waited there, of `all` that it took,
/// in the mean over sub-groups, by the clock of their compute unit. `tail`: from the end of a part
/// of the launch to the end of the last one, in the mean, of the `span` from the first beginning;
/// `longest-tail`: the same of the part that ended first.
inline constexpr std::string_view phase_barrier = "barrier";
inline constexpr std::string_view phase_all = "all";
inline constexpr std::string_view phase_tail = "tail";
inline constexpr std::string_view phase_longest_tail = "longest-tail";
inline constexpr std::string_view phase_span = "span";

/// Whether a phase is told by when parts ended.
bool is_of_ends(std::string_view phase);

/// What times a kernel of which causes are taken away. Of a launch on a GPU, how long it took. A
/// CPU has a group on each core, and what else wants one of them delays that group alone, and with
/// it the launch: on a virtual machine with 16 cores, two of which the host ran on one now and
/// then, launches took twice as long for seconds, and most groups did not. So where groups have a
/// clock there, it times each of them, and the middle one counts.
Timer timer_of_kernels(const DeviceInfo& device);

/// Whether a clock in the kernel times a point: its phase, or, where it has none, its middle group.
bool has_stamps(const Point& point);

/// The same work with the clock of one phase.
Point with_phase(const Point& usual, std::string_view phase);

/// The phases `tail`, `longest-tail` and `span`, of a device whose groups share a clock.
void add_tail(std::vector<Point>& points, const Point& usual, const DeviceInfo& device);

/// Five words of each part, as cl/stalls_mixed.clh stores them.
struct Stamp {
  std::uint64_t began{0};
  std::uint64_t ended{0};
  std::uint64_t waited{0};
  std::uint64_t shared_began{0};  ///< by the clock that all groups share
  std::uint64_t shared_ended{0};
};

/// Whether cl/stamps.clh has a clock that all groups of this device share. Where it has none, ends
/// are compared within groups.
bool has_shared_clock(const DeviceInfo& device);

/// Ticks of the device's clock in one tick of the shared one: on NVIDIA's devices that one counts
/// nanoseconds.
double ticks_of_shared(const DeviceInfo& device);

/// The ticks of a phase. `stamps`: of a launch, group after group, each of `parts_of_group`.
/// `is_shared`: ends of different groups are by one clock. Nothing of another name, and nothing
/// where a clock ran backwards.
double phase_ticks(std::string_view phase, std::span<const Stamp> stamps,
                   std::size_t parts_of_group, bool is_shared);

/// From the beginning of a group to its end, in the median over groups. `groups`: a stamp each.
double ticks_of_middle(std::span<const Stamp> groups);

/// A group of one part or more as one: from the first beginning to the last end. For devices that
/// run its work-items one after another.
Stamp as_one(std::span<const Stamp> group);

}  // namespace clprobe::stalls
