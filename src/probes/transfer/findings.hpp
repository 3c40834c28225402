// SPDX-License-Identifier: Apache-2.0
// What the probe `transfer` concludes. Pure.
#pragma once

#include <span>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe::transfer {

// Labels of the finding `zero_copy`.
inline constexpr std::string_view is_zero_copy = "yes";
inline constexpr std::string_view is_no_zero_copy = "no";
// Of the finding `host_memory`: where a kernel finds what the host may map.
inline constexpr std::string_view kept_on_host = "host";
inline constexpr std::string_view kept_on_device = "device";
// Of the finding `peer_path`: which way bytes go to another device.
inline constexpr std::string_view path_direct = "direct";
inline constexpr std::string_view path_by_host = "through the host";
inline constexpr std::string_view path_in_memory = "in one memory";

std::optional<PointProblem> find_problem_of(const Point& point);

Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::transfer
