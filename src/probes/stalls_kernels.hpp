// SPDX-License-Identifier: Apache-2.0
// What points of `stalls` on real devices are prepared by, each by its part of cl/stalls.cl. Part
// of `prepare`: sees OpenCL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "clprobe/device.hpp"
#include "clprobe/probe.hpp"
#include "probes/work_group.hpp"

namespace clprobe::stalls_device {

inline constexpr std::string_view stalls_file = "stalls.cl";

/// The build options of a part of cl/stalls.cl. `has_clock`: it reads the clock in groups of
/// several work-items, which on CPUs must do without assembly.
std::string part_options(int part, bool has_clock, const DeviceInfo& device);

/// Throws Unsupported where the driver does not run so many work-items of the kernel in a group.
void require_group(const Session& session, const cl::Kernel& kernel, std::uint64_t work_items);

/// As many iterations as take `target_ns`, when `few` of them took what the sample says.
std::uint64_t iterations_for(std::uint64_t target_ns, std::uint64_t few, const Sample& sample);

/// The buffer that all points share, of at least so many words, each of which says in which line it
/// is. Throws cl::Error.
cl::Buffer stalls_data(Session& session, std::uint64_t words);

Work prepare_micro(Session& session, const Point& point);
Work prepare_copy(Session& session, const Point& point);
Work prepare_search(Session& session, const Point& point);

}  // namespace clprobe::stalls_device
