// SPDX-License-Identifier: Apache-2.0
// Disturbances of a run according to its reference points, and the intervals that they widen. Pure.
// docs/method.md explains the rule and its origin.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Returns half the width of the 95 % interval of a reference point's times, as the logarithm of a
/// ratio; nothing for fewer than two moments above 0. A part of the run counts by its minimum for
/// times and by its median for inverse rates, as in the estimates of points. `is_shared`: a CPU,
/// which other processes disturb for seconds, so that a run below 15 s shows less of the
/// disturbances.
std::optional<double> half_width_of(std::span<const Moment> moments, bool is_rate = false,
                                    bool is_shared = true);

/// Name that replaces the probe's id for references that belong to no probe of the run.
inline constexpr std::string_view references_section = "references";

/// Returns the disturbance according to each reference point that was measured at least twice.
std::vector<Disturbance> find_disturbances(const Run& run);

/// Returns the disturbance of a time or a rate: that of the reference of its kind with the nearest
/// time. Without one of its kind, a time uses the nearest rate, and a rate the largest disturbance.
/// `seconds`: time of one access or byte. 0 without a reference.
double disturbance_at(std::span<const Disturbance> disturbances, double seconds, bool is_rate);

/// Returns the largest disturbance; 0 without a reference.
double max_disturbance(std::span<const Disturbance> disturbances);

/// Returns the largest disturbance according to references of rates, or of times; 0 without one.
double max_disturbance(std::span<const Disturbance> disturbances, bool is_rate);

/// Returns the disturbance of a time that depends on all units: the root mean square of those of
/// all rates, since the matching rate is unknown. Without a reference of a rate, the largest
/// disturbance.
double typical_disturbance(std::span<const Disturbance> disturbances);

/// Returns the finding with its interval in reports, widened by a disturbance in quadrature.
/// `half_width`: half a 95 % interval, as a logarithm, for shares a difference. Unchanged without
/// an interval.
Finding with_disturbance(const Finding& own, double half_width);

/// Returns the finding with its own interval, which reverses with_disturbance().
Finding without_disturbance(const Finding& finding);

/// Restores the findings' own intervals.
void forget_disturbance(Run& run);

/// Widens the intervals of all compared findings by the run's disturbances, in quadrature. Repeated
/// calls have no further effect.
void hold_disturbance(Run& run);

// Scatter of a run's points, which the device or other programs may cause. Pure.

/// Returns the uncertainty of a point's time by its samples, in ns: the width of its estimate's
/// interval. If that interval includes the distance between visits, the distance from the lower
/// quartile to the median of all samples instead, since agreement of the best visits does not
/// reduce the scatter of the samples.
double width_of_samples(const Point& point, const Estimate& found, const DeviceInfo& device);

/// Code of the warning that reference points changed during the run.
inline constexpr std::string_view reference_warning = "reference_changed";

/// Code of the warning that other processes used more than a tenth of a CPU's cores.
inline constexpr std::string_view others_warning = "cores_shared";

/// Returns the warning "wide_intervals" if more than a tenth of the points have an interval wider
/// than 5 %. The cause is unknown: a memory whose latency varies between lines scatters as well.
std::optional<Warning> find_scatter(std::span<const Point> points, const DeviceInfo& device);

/// Sets the run's disturbances according to its reference points. Replaces two warnings: about
/// references that changed by more than 5 %, and about other processes that used more than a tenth
/// of a CPU's cores.
void tell_disturbance(Run& run);

}  // namespace clprobe
