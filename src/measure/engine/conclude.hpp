// SPDX-License-Identifier: Apache-2.0
// The result of a probe: findings, warnings and status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {

/// Fact of a point whose device failed at a later visit: the reason. Its earlier samples are valid.
inline constexpr std::string_view later_failure = "later_failure";

/// A point that the device does not support.
struct Refusal {
  std::string series;
  std::string reason;
};

/// Facts of a probe's measurement in addition to its points.
struct Ending {
  bool is_done{false};              ///< otherwise it was interrupted, or continues
  std::vector<Finding> known{};     ///< findings of the plan
  std::vector<Refusal> refusals{};  ///< of points without a sample
  std::vector<double> speeds_ns{};  ///< of the first reference point, in the order of time
};

/// Share of the cores' time that other processes used.
double others_share(const CoreUse& use);

/// Completes a result that has its points: removes points that were not reached, and adds findings,
/// warnings and the status.
void conclude(const Probe& probe, const DeviceInfo& device, const Ending& ended,
              ProbeResult& result);

}  // namespace clprobe
