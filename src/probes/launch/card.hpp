// SPDX-License-Identifier: Apache-2.0
// What of the launches stands on a device's card. Pure.
#pragma once

#include "clprobe/run.hpp"

namespace clprobe::launch {

Card card(const ProbeResult& result);

}  // namespace clprobe::launch
