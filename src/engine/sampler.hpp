// SPDX-License-Identifier: Apache-2.0
// Taking the samples of one visit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "clprobe/engine.hpp"

namespace clprobe {

/// How a visit takes the samples of a point.
Sampling sampling_of(const Point& point, const DeviceInfo& device, const Budget& budget);

/// Takes samples by `work.run`. The work is lengthened until a sample is worth at least 100 timer
/// quanta, and shortened when a launch passes 100 ms (a display driver may kill longer ones).
/// Throws DeviceError when the device fails, VoidedPoint when a witness is wrong.
void take_samples(const Work& work, const DeviceInfo& device, const Sampling& sampling,
                  const TakeSample& take);

/// Appends `budget.samples_per_visit` samples to the point's, or fewer where they agree. Without an
/// in-kernel clock each has a partner; but a whole launch that events time is its own time. Throws
/// as take_samples() does. Facts that come with a sample become the point's.
void sample_visit(const PreparedPoint& prepared, const DeviceInfo& device, const Budget& budget,
                  std::uint64_t visit, Point& point);

/// What a reference point's samples say of the device's speed: the time of one access. A clock that
/// counts the core's cycles slows down with the core and would show nothing, so that the launches'
/// times are used there.
std::optional<double> speed_ns(const Point& reference, const DeviceInfo& device);

/// How far the later half of these lies from the earlier half, as a share; nothing when that is
/// under 2 % or there are fewer than 4 values.
std::optional<double> drift_of(std::span<const double> speeds_ns);

}  // namespace clprobe
