// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "clprobe/kernel_causes.hpp"

namespace clprobe {

/// What was seen, and what it may be in the code: one sentence with a full stop. Where the causes
/// are not believed it says why; empty where nobody knows that.
std::string kernel_advice(const KernelCauses& causes);

}  // namespace clprobe
