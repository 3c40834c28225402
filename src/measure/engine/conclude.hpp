// SPDX-License-Identifier: Apache-2.0
// Conclusion of a probe: findings, warnings and status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {

/// Name of the fact with the reason why a later visit of a point failed. Its earlier samples stay
/// valid.
inline constexpr std::string_view later_failure = "later_failure";

/// Point that the device does not support.
struct Refusal {
  std::string series;
  std::string reason;
};

/// Facts of a probe's measurement in addition to its points.
struct Ending {
  bool is_done{false};              ///< false: the probe was interrupted or is still running
  std::vector<Finding> known{};     ///< findings of the plan
  std::vector<Refusal> refusals{};  ///< unsupported points, which have no samples
  std::vector<double> speeds_ns{};  ///< speeds at the first reference point, in order of time
};

/// Share of the cores' time that other processes used.
double others_share(const CoreUse& use);

/// Completes a result whose points are measured: drops points that were not reached and adds
/// findings, warnings and the status.
void conclude(const Probe& probe, const DeviceInfo& device, const Ending& ended,
              ProbeResult& result);

}  // namespace clprobe
