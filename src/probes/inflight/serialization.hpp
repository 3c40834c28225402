// SPDX-License-Identifier: Apache-2.0
// The first and smaller rise of a Thread-Latency curve: what a sub-group's loads take because they
// issue and are written back one after another, and how many sub-groups' loads do so side by side.
// Source: Lashgar, Salehi, Baniasadi 2015, section 3.2 and Fig. 1. Pure.
#pragma once

#include <optional>

#include "clprobe/outstanding.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe::inflight {

struct Serialization {
  double cycles_per_lane{0.0};  ///< that each further work-item of the first sub-group adds
  Interval interval{};
  /// The last work-items of the shelf behind the first sub-group, in which the time hardly rises,
  /// and the next ones, which rise. Nothing where there is no shelf that ends.
  std::optional<Gap> shelf{};
};

/// Of a curve of one load without mergers; nothing of fewer than three points in the first
/// sub-group. A shelf holds a whole sub-group more, and rises by less than a quarter of what the
/// first one does.
std::optional<Serialization> find_serialization(const ThreadLatencyCurve& curve, int sub_group);

}  // namespace clprobe::inflight
