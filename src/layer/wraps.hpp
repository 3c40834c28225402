// SPDX-License-Identifier: Apache-2.0
// What puts our functions into the table that the loader calls, where the one below has them.
#pragma once

#include "layer/opencl.hpp"

namespace clprobe::layer {

/// An event for every launch.
void wrap_launches(cl_icd_dispatch& table);

/// Queues with profiling, whatever the application asked for; to it they seem as it made them.
void wrap_queues(cl_icd_dispatch& table);

/// The capture of single launches, where CLPROBE_CAPTURE names a folder with a list of launches:
/// which, what is known of their kernels, and the bundles. It calls the survey's functions, which
/// go on as without it: so it comes after them.
void wrap_capture(cl_icd_dispatch& table);

}  // namespace clprobe::layer
