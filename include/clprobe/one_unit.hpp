// SPDX-License-Identifier: Apache-2.0
// Rates that one unit of a device reaches while all others idle.
#pragma once

#include <string_view>

namespace clprobe {

/// A fact of the points of such a rate: it is as disturbed as what a unit does by itself, and not
/// as what all of them do together.
inline constexpr std::string_view of_one_unit = "of_one_unit";

}  // namespace clprobe
