// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace clprobe {

/// Why one run a side on the CPU of a virtual machine tells no change, in the middle of a sentence.
inline constexpr std::string_view others_on_host =
    "others on a virtual machine's host may do that for all of a run";

}  // namespace clprobe
