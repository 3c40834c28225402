// SPDX-License-Identifier: Apache-2.0
// The capture of single launches: which, what is known of their kernels, and the bundles. Above the
// survey's functions, which go on as without it.
#pragma once

#include "layer/opencl.hpp"

namespace clprobe::layer {

/// Puts the capture's functions into the table that the loader calls, where CLPROBE_CAPTURE names a
/// folder with a list of launches. Behind the survey's: they are what the capture calls.
void wrap_capture(cl_icd_dispatch& table);

}  // namespace clprobe::layer
