// SPDX-License-Identifier: Apache-2.0
// From the points of a bar to its findings: by removing causes and adding noise, and by clocks in
// the kernel. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

/// The phase whose clock a point's samples read: its parameter. Empty: they are whole launches.
std::string phase_of(const Point& point);

/// The parameter of a point without causes whose launch has more groups than the kernel: how many
/// for each.
inline constexpr std::string_view crowd_name = "crowd";
/// 0: a point has as many groups as the kernel.
std::int64_t crowd_of(const Point& point);

/// Whether nothing is taken away from the kernel, or added to it, and no part of it is timed alone.
bool is_whole_kernel(const Point& point);

/// Whether noise speaks against the first cause: its label.
inline constexpr std::string_view noise_verdict_name = "noise";
inline constexpr std::string_view noise_agrees = "agree";

/// How long before the last part of a launch the first one ended, as a share of the time from the
/// first beginning: by how much the units differ that were in use least and most.
inline constexpr std::string_view longest_tail_name = "longest_tail";

/// The finding "time" of a bar.
Finding time_finding(std::string_view bar, double ns, const Interval& interval,
                     std::string_view method);

/// On a CPU, whose cores are shared with others, who only add to it: that of a point's best visits.
/// Nothing on other devices, and of a point without samples.
std::optional<Finding> cpu_time_finding(std::string_view bar, const Point& point,
                                        const DeviceInfo& device);

/// What each cause saves, what the causes do together, and what noise says of the first. A reason
/// where points are missing or not of this version.
void add_ablation(std::string_view bar, const Points& points, const DeviceInfo& device,
                  std::vector<Finding>& findings);

/// What a phase took by the group's own clock. Nothing where it was not measured.
std::optional<Estimate> phase_time(const Points& points, std::string_view phase,
                                   const DeviceInfo& device);
/// The same of a phase whose every iteration has a pair of clock reads in it.
std::optional<Estimate> paired_phase_time(const Points& points, std::string_view phase,
                                          const DeviceInfo& device);

/// A phase and the label of its part.
struct PhaseLabel {
  std::string_view phase;
  std::string_view label;
};
struct PhaseTime {
  std::string_view label;
  Estimate time;
};
/// The phases that were measured.
std::vector<PhaseTime> phase_times(const Points& points, const DeviceInfo& device,
                                   std::span<const PhaseLabel> labels);

/// The phases as shares of `min_all_ns`, or of their sum where that is more: they are of different
/// launches, of which a busy host delays some. They are of the time until a part's end, and the
/// tail comes behind it. What is left is the remainder.
void add_clock_parts(std::string_view bar, std::span<const PhaseTime> times, double min_all_ns,
                     const Points& points, const DeviceInfo& device,
                     std::vector<Finding>& findings);

/// The sentence that a kernel is bound by latency, where its first cause is memory data, noise
/// finds nothing against that, and every resource is surely free for a fifth of the time or more.
/// `findings`: those of the bar, from the first on.
/// Source: Chips and Cheese, GPU memory latency's impact, and updated test: a kernel that issues in
/// less than 80 % of the cycles, and waits most for what it loads, is bound by latency.
std::optional<Finding> find_latency_bound(std::string_view bar, std::span<const Finding> findings);

}  // namespace clprobe::stalls
