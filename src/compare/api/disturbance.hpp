// SPDX-License-Identifier: Apache-2.0
// Disturbances of a run according to its reference points, and the intervals that disturbances
// widen (docs/method.md). Results depend only on the arguments.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Returns half the width of the 95 % interval of a reference point's times, as the logarithm of a
/// ratio. Returns nothing for fewer than two moments with a time above 0. The run is divided into
/// parts. The value of a part is the minimum of its times, or the median for rates, as in the
/// estimates of points. `is_shared` is true for a CPU. Other processes disturb a CPU for seconds,
/// so that a run shorter than 15 s shows only a part of the disturbances.
std::optional<double> half_width_of(std::span<const Moment> moments, bool is_rate = false,
                                    bool is_shared = true);

/// Name used instead of a probe's id for references that belong to no probe.
inline constexpr std::string_view references_section = "references";

/// Returns the disturbance according to each reference point with at least two moments.
std::vector<Disturbance> find_disturbances(const Run& run);

/// Returns the disturbance of a time or a rate, as a half-width; 0 without references. The
/// disturbance is that of the reference of the same kind (time or rate) whose time is closest to
/// `seconds`. Without a reference of the same kind, a time uses the closest rate, and a rate uses
/// the largest disturbance. `seconds` is the time of one access or of one byte.
double disturbance_at(std::span<const Disturbance> disturbances, double seconds, bool is_rate);

/// Returns the largest disturbance, as a half-width; 0 without references.
double max_disturbance(std::span<const Disturbance> disturbances);

/// Returns the largest disturbance according to references of rates if `is_rate`, otherwise of
/// times; 0 without such references.
double max_disturbance(std::span<const Disturbance> disturbances, bool is_rate);

/// Returns the disturbance of a time that depends on all compute units. The result is the root mean
/// square of the disturbances of all rates, since the rate that matches the time is unknown.
/// Without a reference of a rate, the result is the largest disturbance.
double typical_disturbance(std::span<const Disturbance> disturbances);

/// Returns the finding with its interval widened by a disturbance in quadrature, as in reports.
/// `half_width` is half the width of a 95 % interval, as the logarithm of a ratio, or a difference
/// for shares. Returned unchanged: advice, counts, and findings without an interval.
Finding with_disturbance(const Finding& own, double half_width);

/// Returns the finding with its own interval, without the widening by with_disturbance().
Finding without_disturbance(const Finding& finding);

/// Restores the intervals of all findings to those without disturbances.
void forget_disturbance(Run& run);

/// Widens the intervals of all findings that disturbances affect, in quadrature. Repeated calls
/// widen the intervals only once.
void hold_disturbance(Run& run);

// Scatter of a run's points, caused by the device or by other programs.

/// Returns the uncertainty of a point's time according to its samples, in ns: the width of the
/// estimate's interval. If that interval includes the distance between visits, the result is
/// instead the distance from the lower quartile to the median of all samples. The best visits may
/// agree although the samples scatter.
double width_of_samples(const Point& point, const Estimate& found, const DeviceInfo& device);

/// Code of the warning that reference points changed during the run.
inline constexpr std::string_view reference_warning = "reference_changed";

/// Code of the warning that other processes used more than a tenth of the CPU time.
inline constexpr std::string_view others_warning = "cores_shared";

/// Returns the warning "wide_intervals" if more than a tenth of the points have an interval wider
/// than 5 % (25 % for waiting times). The warning names no cause, since the latency of a memory may
/// also vary between cache lines.
std::optional<Warning> find_scatter(std::span<const Point> points, const DeviceInfo& device);

/// Sets the run's disturbances according to its reference points, and replaces two warnings. The
/// warnings are about references that changed by more than 5 %, and about other processes that used
/// more than a tenth of the CPU time.
void tell_disturbance(Run& run);

}  // namespace clprobe
