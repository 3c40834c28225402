// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `banks` say. Pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "clprobe/probe.hpp"
#include "probes/banks/model.hpp"

namespace clprobe::banks {

/// The series of findings about the memory as a whole.
inline constexpr std::string_view of_memory = "local memory";

/// What the loads (of 4 and 8 bytes, where they were measured; else whatever was) say of the banks.
/// Nothing without any measured pattern.
std::optional<Verdict> find_verdict(const DeviceInfo& device, std::span<const Point> points);

/// The `analyse` of the probe. Method: docs/banks.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::banks
