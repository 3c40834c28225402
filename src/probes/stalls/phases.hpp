// SPDX-License-Identifier: Apache-2.0
// From the points of `stalls` on real devices that clocks in the kernel time to bars, and what
// these share with the bars of ablation. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/ablation.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::stalls {

/// The points of one bar.
using Points = std::vector<const Point*>;

inline constexpr std::string_view remainder = "unattributed";

inline bool is_phase(const Point& point) { return !point.parameters.text_or("phase", "").empty(); }

Finding finding_of(std::string_view name, std::string_view series, std::string_view unit,
                   std::string_view method);
Finding without_value(std::string_view name, std::string_view series, std::string_view method,
                      std::string reason);
/// The finding "time" of a bar.
Finding time_of(std::string_view series, const Cost& cost, std::string_view method);

/// Barriers and the tail.
void add_micro_phases(std::string_view bar, const Points& points, const DeviceInfo& device,
                      std::vector<Finding>& findings);

/// Copies, work and the tail. Where an asynchronous copy is made while it is started, nothing is
/// pending afterwards.
void add_copy_phases(std::string_view bar, const Points& points, const DeviceInfo& device,
                     std::vector<Finding>& findings);

/// The time of a search; locks, queues, nodes, nothing to do, and the tail.
void add_search(std::string_view bar, const Points& points, const DeviceInfo& device,
                std::vector<Finding>& findings);

}  // namespace clprobe::stalls
