// SPDX-License-Identifier: Apache-2.0
// Two devices, or one device under two drivers, measured alternately: the points that show a
// finding, and visits of pairs of such points.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "compare/api/paired.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {

/// The points of a probe that a side has measured.
struct Measured {
  const Probe* probe{nullptr};
  const DeviceInfo* device{nullptr};
  std::span<const Point> points{};
};

/// Indexes of a point of each side.
struct PointPair {
  std::size_t baseline{0};
  std::size_t other{0};

  friend bool operator==(const PointPair&, const PointPair&) = default;
};

/// True for units whose values fall when times rise.
bool is_rate(std::string_view unit);

/// A time per access as a value in the unit of a finding: a time, a number of cycles or a rate.
/// Nothing for other units.
std::optional<double> value_in(std::string_view unit, double ns_per_access,
                               const DeviceInfo& device);

/// Indexes of the points that show a finding, the nearest to its value first: points of its series
/// within 5 % of its interval, if `analyse` changes the finding when they alone get slower. Empty
/// otherwise: a slope does not depend on points that happen to take as long.
std::vector<std::size_t> find_carriers(const Finding& finding, const Measured& measured);

/// Up to `max_count` pairs of points that show a finding, the nearest to both findings first: the
/// same point on both sides. On one device it is enough that a point shows the finding of one side,
/// since noise decides which points are the fastest. Two devices may have no such point in common;
/// then each has its own. A null finding means that the side lacks it: then one device is visited
/// at the points of the other side, and two devices at none.
std::vector<PointPair> pair_carriers(const Finding* baseline, const Measured& of_baseline,
                                     const Finding* other, const Measured& of_other,
                                     std::size_t max_count);

/// A side of a pair: where it is measured, and by which clock its ticks are read.
struct PairSide {
  Backend* backend{nullptr};
  DeviceInfo device{};
};

/// Length of the visit of a pair, without preparing, in blocks A B B A.
struct PairBudget {
  std::chrono::duration<double> time{0.4};
  int min_blocks{4};
  int max_blocks{16};
  Budget visit{.min_visits = 1, .samples_per_visit = 2};
};

/// Result of the visit of a pair.
struct PairVisit {
  std::vector<PairBlock> blocks{};               ///< times in ns, as logarithms
  std::array<std::vector<Sample>, 2> samples{};  ///< all samples of each side
};

/// A DeviceError and the side that it comes from (0: the baseline).
class SideError : public DeviceError {
 public:
  SideError(std::size_t side, const std::string& reason) : DeviceError(reason), side_(side) {}
  [[nodiscard]] std::size_t side() const { return side_; }

 private:
  std::size_t side_;
};

/// Prepares a point on both sides and measures it in blocks A B B A and B A A B alternately;
/// `is_mirrored`: B A A B first. Ends early, with whole blocks, once `cancelled` returns true.
/// Throws SideError.
PairVisit visit_pair(const Probe& probe, const std::array<PairSide, 2>& sides,
                     const std::array<const Point*, 2>& points, bool is_mirrored,
                     const PairBudget& budget, const std::function<bool()>& cancelled);

}  // namespace clprobe
