// SPDX-License-Identifier: Apache-2.0
// Conclusions of a probe's measurement: findings, warnings and status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "measure/api/engine.hpp"

namespace clprobe {

/// Name of the fact that stores why a later visit of a point failed. Samples of earlier visits stay
/// valid.
inline constexpr std::string_view later_failure = "later_failure";

/// A point that the device does not support, and the reason.
struct Refusal {
  std::string series;
  std::string reason;
};

/// Facts about a probe's measurement other than its points.
struct Ending {
  bool is_done{false};              ///< false if the probe was interrupted or is still running
  std::vector<Finding> known{};     ///< findings of the plan, which need no measurement
  std::vector<Refusal> refusals{};  ///< unsupported points, which have no samples
  std::vector<double> speeds_ns{};  ///< time per access of the first reference, earliest first
};

/// Returns the share of the cores' time that other processes used, from 0 to 1.
double others_share(const CoreUse& use);

/// Completes the result of a probe after its measurement. Removes points that were not reached, and
/// adds findings, warnings and the status.
void conclude(const Probe& probe, const DeviceInfo& device, const Ending& ended,
              ProbeResult& result);

}  // namespace clprobe
