// SPDX-License-Identifier: Apache-2.0
// Likely causes of a slow device, from the pattern of its slow numbers.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace clprobe::fleet {

/// Returns the likely cause of a device's losses (Deviation::loss), by the names of its numbers.
/// Empty if no pattern fits.
std::string_view cause_of(const std::map<std::string, double, std::less<>>& losses);

}  // namespace clprobe::fleet
