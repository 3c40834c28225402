// SPDX-License-Identifier: Apache-2.0
// The parts of the probe `kernel`. Pure, but for `open`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/device_info.hpp"
#include "clprobe/probe.hpp"
#include "probes/kernel/causes.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::kernel {

/// The points of a first pass: the launch as it was; if its text allows, with clprobe's
/// instrumentation and ever fewer distinct groups; without barriers, atomics and the like; and with
/// ever fewer resident groups.
Plan plan(const DeviceInfo& device, const Request& request);

/// The points that depend on the first ones: the fastest working-set reduction without other
/// causes, copies of it without all causes, and the launch of full waves.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points);

/// A bundle's launch as the prelude takes it.
prelude::NdRange range_for_prelude(const bundle::NdRange& range);

/// Which causes can be removed, and the objections of the text, the launch and the device.
prelude::Judgement judge_kernel(const bundle::Bundle& bundle, const DeviceInfo& device);

/// The removable parts of the build that all settings of the launch share.
prelude::Switches switches_of(const prelude::Judgement& judgement, const prelude::NdRange& range,
                              const DeviceInfo& device);

/// The replay of the bundles that this process was given. Sees OpenCL.
Preparer open(Session& session);

/// For each object, whether all kernel parameters that it is passed to are pointers to float.
std::vector<bool> objects_of_floats(const bundle::Bundle& bundle);

/// True if the floats of both differ by at most a thousandth of the range of the first ones; those
/// that are not finite must be equal. False for other lengths, or parts of words.
bool are_close_floats(std::string_view first, std::string_view second);

/// The times of the kernel with that label. A factor that lacks launches is refused.
KernelTimes gather_times(const DeviceInfo& device, std::span<const Point> points,
                         const std::string& label);

/// The costs of how the groups of that kernel fill the device. Nothing if no launch counted them.
std::optional<KernelOccupancy> gather_occupancy(const DeviceInfo& device,
                                                std::span<const Point> points,
                                                const std::string& label);

/// The bytes of all buffers of the launch.
inline constexpr std::string_view working_set_name = "working_set";
/// A sentence about the level that holds them.
inline constexpr std::string_view levels_name = "levels";

Findings analyse(const DeviceInfo& device, std::span<const Point> points);

/// The levels in the curves over distinct groups.
std::vector<CardMark> marks_of(const ProbeResult& result);

}  // namespace clprobe::kernel
