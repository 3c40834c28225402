// SPDX-License-Identifier: Apache-2.0
// How much the points of a run scatter, and whether that is the device's doing or somebody else's.
// Pure.
#pragma once

#include <optional>
#include <span>

#include "clprobe/estimate.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

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
