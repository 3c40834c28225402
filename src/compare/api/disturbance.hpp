// SPDX-License-Identifier: Apache-2.0
// Disturbance of a run, as its reference points show it, and the intervals that it widens. Pure.
// docs/method.md has the rule and its origin.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Half the width of a 95 % interval of a reference point's times, as the logarithm of a ratio;
/// nothing for fewer than two moments above 0. The minimum of a part of the run counts for times,
/// the median for inverse rates, as in the estimates of points. `is_shared`: a CPU, which other
/// processes disturb for seconds, so that less than 15 s show less of the run.
std::optional<double> half_width_of(std::span<const Moment> moments, bool is_rate = false,
                                    bool is_shared = true);

/// The change that a reference shows; half_width_of() is the product of both fields.
struct SeenChange {
  double range{0.0};  ///< of the moments that count, as the logarithm of a ratio
  double factor{1.0};
};

/// The change that the moments of a reference show; nothing for fewer than two moments above 0.
std::optional<SeenChange> seen_change_of(std::span<const Moment> moments, bool is_rate = false,
                                         bool is_shared = true);

/// Stands for the probe's id of references that belong to no probe of the run.
inline constexpr std::string_view references_section = "references";

/// The disturbance of every reference point that was measured twice or more.
std::vector<Disturbance> find_disturbances(const Run& run);

/// The reference of a run with the largest change.
struct MostChanged {
  std::string probe{};
  std::string series{};
  ReferenceKind kind{ReferenceKind::core};
  SeenChange seen{};
};

/// The largest change; nothing without a reference that was measured twice or more.
std::optional<MostChanged> find_most_changed(const Run& run);

/// Disturbance of a time or a rate: that of the nearest reference of its kind. Without one of its
/// kind, a time has that of the nearest rate, and a rate the largest of all. `seconds`: of one
/// access or one byte. 0 without a reference.
double disturbance_at(std::span<const Disturbance> disturbances, double seconds, bool is_rate);

/// The largest disturbance; 0 without a reference.
double max_disturbance(std::span<const Disturbance> disturbances);

/// The largest disturbance of references of rates, or of times; 0 without one.
double max_disturbance(std::span<const Disturbance> disturbances, bool is_rate);

/// Disturbance of a time that all units make together: the root mean square of those of rates,
/// since the matching rate is unknown. Without a reference of a rate, the largest disturbance.
double typical_disturbance(std::span<const Disturbance> disturbances);

/// The finding with the interval that reports show: its own, widened by a disturbance in quadrature
/// (half a 95 % interval; a logarithm, for shares a difference). Unchanged without an interval.
Finding with_disturbance(const Finding& own, double half_width);

/// The finding with its own interval, without the widening by with_disturbance().
Finding without_disturbance(const Finding& finding);

/// Restores the findings' own intervals.
void forget_disturbance(Run& run);

/// Widens the interval of every compared finding by the run's disturbances, in quadrature. Calling
/// it twice has the same effect as once.
void hold_disturbance(Run& run);

// The scatter of a run's points, and its cause: the device or other programs.
// Pure.

/// Uncertainty of a point's time by its samples, in ns: the width of its estimate's
/// interval; of one that holds its visits, from the lower quartile to the median of all samples.
/// That the best visits agree makes no other sample narrow.
double width_of_samples(const Point& point, const Estimate& found, const DeviceInfo& device);

/// The warning of a run whose reference points changed while it lasted.
inline constexpr std::string_view reference_warning = "reference_changed";

/// The warning of a run on a CPU of whose cores others had more than a tenth.
inline constexpr std::string_view others_warning = "cores_shared";

/// "wide_intervals" where more than a tenth of the points have an interval wider than 5 %. What was
/// seen, and no cause of it: a memory whose latency differs from line to line scatters as well.
std::optional<Warning> find_scatter(std::span<const Point> points, const DeviceInfo& device);

/// Writes the disturbances that the run's reference points saw, and writes or takes back two
/// warnings: of references that changed by more than 5 %, and of others who had more than a tenth
/// of a CPU's cores.
void tell_disturbance(Run& run);

}  // namespace clprobe
