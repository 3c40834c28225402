// SPDX-License-Identifier: Apache-2.0
// What the points of the probe `banks` say. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/banks.hpp"
#include "clprobe/probe.hpp"

namespace clprobe::banks {

/// "banks", "load-latency", ... not measured, and why.
Finding no_bank_finding(std::string name, std::string_view series, std::string reason);

/// What the loads (of 4 and 8 bytes, where they were measured; else whatever was) say of the banks.
/// Nothing without any measured pattern.
std::optional<BankVerdict> verdict_of(const DeviceInfo& device, std::span<const Point> points);

/// The `analyse` of the probe. Method: docs/banks.md.
Findings banks_findings(const DeviceInfo& device, std::span<const Point> points);

}  // namespace clprobe::banks
