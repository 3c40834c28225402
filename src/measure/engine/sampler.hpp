// SPDX-License-Identifier: Apache-2.0
// Sampling of one visit of a point.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/api/engine.hpp"

namespace clprobe {

/// Returns how a visit samples a point.
Sampling sampling_of(const Point& point, const DeviceInfo& device, const Budget& budget);

/// Takes samples with `work.run`. Lengthens the work until a sample lasts at least 100 timer
/// quanta, and shortens it if a launch exceeds 100 ms, since a display driver may kill longer ones.
/// Throws DeviceError if the device fails, VoidedPoint if a checksum is wrong.
void take_samples(const Work& work, const DeviceInfo& device, const Sampling& sampling,
                  const TakeSample& take);

/// Appends `budget.samples_per_visit` samples to the point, or fewer if they agree. Without an
/// in-kernel clock, each sample has a shorter partner, unless whole launches are timed. Facts of a
/// sample are added to the point. Throws DeviceError and VoidedPoint.
void sample_visit(const PreparedPoint& prepared, const DeviceInfo& device, const Budget& budget,
                  std::uint64_t visit, Point& point);

/// Returns the time in ns of one access of a reference point, which shows the device's speed. A
/// clock that counts core cycles slows down with the core, so launch times are used instead.
std::optional<double> speed_ns(const Point& reference, const DeviceInfo& device);

/// Returns the relative difference between the medians of the later and the earlier half of the
/// values. Returns nothing if it is below 2 % or there are fewer than 4 values.
std::optional<double> drift_of(std::span<const double> speeds_ns);

}  // namespace clprobe
