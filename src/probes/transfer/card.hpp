// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clprobe/run.hpp"

namespace clprobe::transfer {

Card card(const ProbeResult& result);

}  // namespace clprobe::transfer
