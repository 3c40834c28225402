// SPDX-License-Identifier: Apache-2.0
// Which level of memory a kernel's working set falls into, as it is and folded: sizes of caches are
// those that `latency` found (Known::levels). Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::kernel {

/// The bytes of all buffers of the launch.
inline constexpr std::string_view working_set_name = "working_set";
/// A sentence that says where they lie.
inline constexpr std::string_view levels_name = "levels";
/// Of a level: up to how many distinct groups have their part of the buffers in it.
inline constexpr std::string_view level_groups_name = "level_groups";

/// Of the kernel of that label, as far as levels and groups are known. A group's part is taken for
/// the same of all buffers, so that of what all groups read too little is said.
void add_working_set(std::span<const Point> points, const std::string& label, Findings& found);

/// The levels in the curves over distinct groups.
std::vector<CardMark> marks_of(const ProbeResult& result);

}  // namespace clprobe::kernel
