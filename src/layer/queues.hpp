// SPDX-License-Identifier: Apache-2.0
// Queues with profiling, whatever the application asked for; to it they seem as it made them.
#pragma once

#include "layer/opencl.hpp"

namespace clprobe::layer {

/// Puts our functions into the table that the loader calls, where the one below has them.
void wrap_queues(cl_icd_dispatch& table);

}  // namespace clprobe::layer
