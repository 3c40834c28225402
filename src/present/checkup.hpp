// SPDX-License-Identifier: Apache-2.0
// Checkup of a device and its driver: what works, what looks wrong, and what disturbed the run.
// Rules: docs/method.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"

namespace clprobe::report {

enum class Health {
  good,
  noted,   ///< a limit of the device, or a disturbance by other programs
  problem  ///< the driver or the device does something wrong
};

struct Check {
  Health health{Health::good};
  std::string topic{};  ///< "event times"
  std::string text{};
};

/// Returns the checks of a run, problems last. The run needs final findings and cards. Pure.
std::vector<Check> checks_of(std::span<const Probe* const> probes, const Run& run);

}  // namespace clprobe::report
