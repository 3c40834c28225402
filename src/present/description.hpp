// SPDX-License-Identifier: Apache-2.0
// Description of a device: measured numbers under stable names, for programs that choose sizes by
// them. Names, units and rules: docs/describe.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"

namespace clprobe::report {

/// A number of the description. Without a value, `low` is a lower bound, if known, and `reason`
/// says why there is no value.
struct DeviceNumber {
  std::string name{};  ///< "L2.capacity", "launch.round_trip"
  std::optional<double> value{};
  std::optional<double> low{};
  std::optional<double> high{};
  std::string unit{};
  Source source{Source::measured};  ///< `derived`: computed from other numbers of the description
  std::string reason{};

  friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
};

struct Description {
  /// Names of the levels of global memory, fastest first, and remarks such as "or its near half".
  std::vector<std::pair<std::string, std::string>> levels{};
  std::vector<DeviceNumber> numbers{};
};

/// Returns the description of the run's device. The run needs final findings and cards. Pure.
Description describe(std::span<const Probe* const> probes, const Run& run);

}  // namespace clprobe::report
