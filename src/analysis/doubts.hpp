// SPDX-License-Identifier: Apache-2.0
// Why two runs of one device may differ though the device does not. Pure.
#pragma once

#include <string>
#include <string_view>

#include "clprobe/compare.hpp"

namespace clprobe {

/// Whether a change is so large, from the nearer end of its interval on, that no doubt about how
/// the two runs measured explains it.
bool is_beyond_doubt(const Judgement& judged, const Finding& finding, double threshold);

/// Why findings of a series may differ although the device is the same; empty where nothing says
/// so. Time that runs out leaves points by chance, and findings of other points are other findings.
/// Events and the host's clock see launches differently. Of two devices other points prove nothing:
/// their sizes differ by design.
std::string doubt_of(const ComparedResult& baseline, const ComparedResult& other,
                     std::string_view series, bool is_same_device);

/// Two runs that found the rate of a clock in two ways. Against the host's clock it was found 30 %
/// too low, far beyond its interval (seen on an H200 whose events were refused for once).
std::string doubt_of_clock(const Finding& baseline, const Finding& other);

}  // namespace clprobe
