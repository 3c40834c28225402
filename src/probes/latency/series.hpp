// SPDX-License-Identifier: Apache-2.0
// The series of the probe `latency` on a device: how far each goes, in which steps. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"

namespace clprobe::latency {

// The segmentation needs three points on a plateau; 9 % resolves caches that are 1.3 times apart.
constexpr double fine_ratio = 1.09;
constexpr double knee_ratio = 1.04;

/// What a series measures on a device, or why it cannot.
struct SeriesPlan {
  std::string_view name;
  Bytes last;
  double ratio;
  Bytes step;
  std::string address;
  std::string missing{};  ///< why the device cannot; empty when it can
};

/// Bytes from node to node in all series but `global-pages`: what was asked for, or a cache line.
Bytes line_of(const DeviceInfo& device, const Limits& limits);

std::vector<SeriesPlan> series_plans(const DeviceInfo& device, const Limits& limits);

/// Which of the limits leaves no series a working set of two steps, and what to choose instead;
/// empty where that is not why.
std::string mistake_in(const std::vector<SeriesPlan>& all, const Limits& limits);

}  // namespace clprobe::latency
