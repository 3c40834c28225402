// SPDX-License-Identifier: Apache-2.0
// Why two runs of one device may differ though the device does not. Pure.
#pragma once

#include <string>
#include <string_view>

#include "clprobe/compare.hpp"

namespace clprobe {

/// Why findings of a series may differ although the device is the same; empty where nothing says
/// so. Time that runs out leaves points by chance, and findings of other points are other findings.
/// Events and the host's clock see launches differently.
std::string doubt_of(const ComparedResult& baseline, const ComparedResult& other,
                     std::string_view series);

/// Two runs that found the rate of a clock in two ways. Against the host's clock it was found 30 %
/// too low, far beyond its interval (seen on an H200 whose events were refused for once).
std::string doubt_of_clock(const Finding& baseline, const Finding& other);

}  // namespace clprobe
