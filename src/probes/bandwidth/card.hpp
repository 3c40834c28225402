// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clprobe/run.hpp"

namespace clprobe::bandwidth {

/// What of its findings stands on the card of a device. Pure.
Card card(const ProbeResult& result);

}  // namespace clprobe::bandwidth
