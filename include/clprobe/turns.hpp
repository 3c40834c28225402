// SPDX-License-Identifier: Apache-2.0
// Two devices, or one under two drivers, measured in turns: which points show what a finding says,
// and rounds of turns on them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/engine.hpp"
#include "clprobe/paired.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// What a side has measured of a probe.
struct Measured {
  const Probe* probe{nullptr};
  const DeviceInfo* device{nullptr};
  std::span<const Point> points{};
};

/// A point of each side, by its place among the points.
struct PointPair {
  std::size_t baseline{0};
  std::size_t other{0};

  friend bool operator==(const PointPair&, const PointPair&) = default;
};

/// Whether a value of that unit falls where the time rises.
bool is_rate(std::string_view unit);

/// The value of a point in the unit of a finding, where it has one: of a time, a number of cycles
/// and a rate.
std::optional<double> value_in(std::string_view unit, double ns_per_access,
                               const DeviceInfo& device);

/// The points that show what a finding says: those of its series whose values are within 5 % of its
/// interval, if the finding follows when they alone get slower, by `analyse` itself. None where it
/// does not, as a slope does not follow the points that happen to take as long. By their places,
/// the nearest to the finding's value first.
std::vector<std::size_t> find_carriers(const Finding& finding, const Measured& measured);

/// Up to `max_count` pairs of such points, the nearest to both findings first: the same point on
/// both sides. On one device it is enough if it shows the finding of one of them: which points of
/// noisy ones are the fastest is a matter of chance. Two devices may have none in common, and then
/// each is followed at its own. A null finding is none that the side has: then one device is
/// followed where the other side's is seen, and two devices nowhere.
std::vector<PointPair> pair_carriers(const Finding* baseline, const Measured& of_baseline,
                                     const Finding* other, const Measured& of_other,
                                     std::size_t max_count);

/// A side in turns: where it is measured, and by which clock its ticks are read.
struct TurnSide {
  Backend* backend{nullptr};
  DeviceInfo device{};
};

/// How long a round may take on a point beside its preparing, in blocks of turns.
struct TurnBudget {
  std::chrono::duration<double> time{0.4};
  int min_blocks{4};
  int max_blocks{16};
  Budget visit{.min_visits = 1, .samples_per_visit = 2};
};

/// What a round gave.
struct Round {
  std::vector<TurnBlock> blocks{};         ///< times in ns, as logarithms
  std::vector<Sample> baseline_samples{};  ///< all that were taken
  std::vector<Sample> other_samples{};
};

/// Prepares a point on both sides and measures it in blocks of turns, A B B A and B A A B by turns;
/// `is_mirrored`: the other way round. What was taken before `cancelled` turned true is kept, whole
/// blocks of it. Throws DeviceError, with whose it is in `failed` (0: the baseline).
Round take_round(const Probe& probe, const TurnSide& baseline, const Point& baseline_point,
                 const TurnSide& other, const Point& other_point, bool is_mirrored,
                 const TurnBudget& budget, const std::function<bool()>& cancelled, int& failed);

}  // namespace clprobe
