// SPDX-License-Identifier: Apache-2.0
// Why two runs of one device may differ though the device does not. Pure.
#pragma once

#include <string>
#include <string_view>

#include "clprobe/compare.hpp"

namespace clprobe {

/// Why findings of a series may differ although the device is the same: events and the host's clock
/// see launches differently. Empty where both runs were timed alike.
std::string doubt_of_timers(const ComparedResult& baseline, const ComparedResult& other,
                            std::string_view series);

/// Two runs that found the rate of a clock in two ways. Against the host's clock it was found 30 %
/// too low, far beyond its interval (seen on an H200 whose events were refused for once).
std::string doubt_of_clock(const Finding& baseline, const Finding& other);

/// Why two runs whose methods differ give no verdict, with the versions of their tools.
std::string differing_methods(const RunDigest& baseline, const RunDigest& other);

}  // namespace clprobe
