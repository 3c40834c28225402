// SPDX-License-Identifier: Apache-2.0
// What a probe's points come to, and what has to be said of how they were measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/engine.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// The fact of a point whose device failed when it was visited again: why. What it said before
/// holds.
inline constexpr std::string_view later_failure = "later_failure";

/// A point that the device does not support.
struct Refusal {
  std::string series;
  std::string reason;
};

/// What is known of a probe's measuring beside its points.
struct Ending {
  bool is_done{false};              ///< else it was interrupted, or goes on
  std::vector<Finding> known{};     ///< what was clear without measuring
  std::vector<Refusal> refusals{};  ///< of points without a sample
  std::vector<double> speeds_ns{};  ///< of the first reference point, in the order of time
};

/// What others did of all that cores did, or could have done.
double others_share(const CoreUse& use);

/// Leaves out the points that were not reached, and adds findings, warnings and the status. Of a
/// result that has its points and what happened while they were measured.
void conclude(const Probe& probe, const DeviceInfo& device, const Ending& ended,
              ProbeResult& result);

}  // namespace clprobe
