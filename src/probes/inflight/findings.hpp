// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `inflight` say: spikes, limits, parallelism. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/outstanding.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::inflight {

/// The series that is about the compute unit as a whole.
inline constexpr std::string_view unit_series = "compute-unit";
/// The series of work-groups without loads.
inline constexpr std::string_view overhead_series = "overhead";

/// Whether a point is of a Thread-Latency curve: of a whole group's rounds, with loads.
bool is_of_curve(const Point& point);

/// The Thread-Latency curves among the points, in the order of their first points; `series` gets
/// their names.
std::vector<ThreadLatencyCurve> thread_latency_curves(std::span<const Point> points,
                                                      std::vector<std::string>& series);

/// The fact of a Thread-Latency curve's points that stands beside their times: the unbiased
/// variance of the harmonic means of a point and its two neighbours.
inline constexpr std::string_view variance_fact = "variance_square_cycles";

/// Writes that fact of all points that have two neighbours, and takes it from all others.
void derive_variance(std::vector<Point>& points);

std::int64_t sub_group_of(const DeviceInfo& device);

/// Method: docs/inflight.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::inflight
