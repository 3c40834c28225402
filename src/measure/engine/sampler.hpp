// SPDX-License-Identifier: Apache-2.0
// Samples of one visit of a point.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/api/engine.hpp"

namespace clprobe {

/// Returns the instructions for the samples of one visit of a point.
Sampling sampling_of(const Point& point, const DeviceInfo& device, const Budget& budget);

/// Takes the samples of one visit with `work.run`. Increases the work, up to its maximum, until a
/// sample lasts at least 100 timer quanta. Reduces the work if a launch takes more than 100 ms,
/// since a display driver may abort long launches. Throws DeviceError if the device fails, and
/// VoidedPoint if a checksum is wrong.
void take_samples(const Work& work, const DeviceInfo& device, const Sampling& sampling,
                  const TakeSample& take);

/// Appends up to `budget.samples_per_visit` samples to the point, fewer if two in a row agree.
/// Without an in-kernel clock, each sample has a shorter partner, unless whole launches are timed.
/// Adds the facts of the samples to the point. Throws DeviceError and VoidedPoint.
void sample_visit(const PreparedPoint& prepared, const DeviceInfo& device, const Budget& budget,
                  std::uint64_t visit, Point& point);

/// Returns the time of one access of a reference in ns, as the device's speed; nothing if unknown.
/// Uses launch times if the clock counts core cycles, since such a clock slows down with the core.
std::optional<double> speed_ns(const Point& reference, const DeviceInfo& device);

/// Returns the relative difference between the medians of the later and the earlier half of
/// `speeds_ns`. Returns nothing for a difference below 2 % or fewer than 4 values.
std::optional<double> drift_of(std::span<const double> speeds_ns);

}  // namespace clprobe
