// SPDX-License-Identifier: Apache-2.0
// Samples of one visit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/api/engine.hpp"

namespace clprobe {

/// The way in which a visit samples a point.
Sampling sampling_of(const Point& point, const DeviceInfo& device, const Budget& budget);

/// Takes samples by `work.run`. The work is lengthened until a sample is worth at least 100 timer
/// quanta, and shortened when a launch passes 100 ms (a display driver may kill longer ones).
/// Throws DeviceError when the device fails, VoidedPoint when a witness is wrong.
void take_samples(const Work& work, const DeviceInfo& device, const Sampling& sampling,
                  const TakeSample& take);

/// Appends `budget.samples_per_visit` samples to the point's, or fewer if they agree. Without an
/// in-kernel clock each sample has a shorter partner, unless a whole launch is timed. Facts of a
/// sample become facts of the point. Throws as take_samples().
void sample_visit(const PreparedPoint& prepared, const DeviceInfo& device, const Budget& budget,
                  std::uint64_t visit, Point& point);

/// The time of one access of a reference point, which shows the device's speed. With a clock that
/// counts core cycles, and so slows down with the core, the times of launches are used.
std::optional<double> speed_ns(const Point& reference, const DeviceInfo& device);

/// Difference between the later and the earlier half of the values, as a share; nothing if it is
/// below 2 % or there are fewer than 4 values.
std::optional<double> drift_of(std::span<const double> speeds_ns);

}  // namespace clprobe
