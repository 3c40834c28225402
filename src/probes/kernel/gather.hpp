// SPDX-License-Identifier: Apache-2.0
// The points of one kernel, as the analysis of its causes wants them. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "clprobe/kernel_causes.hpp"
#include "clprobe/kernel_chains.hpp"
#include "clprobe/kernel_places.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::kernel {

struct Gathered {
  KernelTimes times{};
  FoldingOptions folding{};
  std::optional<BareRuns> bare_runs{};  ///< nothing where none was planned
};

/// Of the kernel of that label. A factor whose launches are not all there is refused.
Gathered gather(const DeviceInfo& device, std::span<const Point> points, const std::string& label);

/// How the groups of that kernel fill the device. Nothing where no launch counted them.
std::optional<KernelPlaces> gather_places(const DeviceInfo& device, std::span<const Point> points,
                                          const std::string& label);

}  // namespace clprobe::kernel
