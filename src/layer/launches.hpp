// SPDX-License-Identifier: Apache-2.0
// An event for every launch.
#pragma once

#include "layer/opencl.hpp"

namespace clprobe::layer {

void wrap_launches(cl_icd_dispatch& table);

}  // namespace clprobe::layer
