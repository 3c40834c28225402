// SPDX-License-Identifier: Apache-2.0
// Which program a kernel is of, and what that was made from.
#pragma once

#include "layer/opencl.hpp"

namespace clprobe::layer {

void wrap_programs(cl_icd_dispatch& table);

}  // namespace clprobe::layer
