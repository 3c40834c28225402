// SPDX-License-Identifier: Apache-2.0
// Calls that CL/opencl.hpp has no function for.
#pragma once

#include "measure/api/device.hpp"

namespace clprobe {

/// Throws cl::Error, as the functions of CL/opencl.hpp do. `call`: its name, which must outlive it.
inline void expect_success(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw cl::Error(status, call);
}

}  // namespace clprobe
