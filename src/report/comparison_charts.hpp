// SPDX-License-Identifier: Apache-2.0
// What the script of a comparison's page draws: the curves of all runs over each other.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/compare.hpp"

namespace clprobe::report {

/// As page_chart(), of the curves in the digests: one for each parameter that curves of the probe
/// run along. Runs are its devices. Points have no intervals here, and no levels; a curve besides
/// has {"ratios": {"at", "values", "texts"}}, its values to the baseline's at the same places. The
/// axis of these is "ratio". Curves of words, and of a single point, are not drawn.
std::vector<nlohmann::ordered_json> comparison_charts(std::span<const RunDigest> runs,
                                                      std::size_t baseline, std::string_view probe);

}  // namespace clprobe::report
