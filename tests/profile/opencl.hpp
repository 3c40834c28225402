// SPDX-License-Identifier: Apache-2.0
// The C interface, as most applications use it; whatever fails ends the program.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace surveyed {

/// Ends the program with status 9.
void check(cl_int error, const char* what);

/// The first device, and a context. Nothing is released at the end, as in many programs.
struct OpenCl {
  OpenCl();
  cl_platform_id platform{nullptr};
  cl_device_id device{nullptr};
  cl_context context{nullptr};

  [[nodiscard]] cl_command_queue queue(cl_command_queue_properties properties = 0) const;
  [[nodiscard]] cl_program program(const std::string& source, const char* options = "") const;
  [[nodiscard]] cl_mem buffer(std::size_t words) const;
};

cl_kernel kernel_of(cl_program program, const char* name);
/// Sets the buffer as argument 0 and a number as argument 1.
void set_arguments(cl_kernel kernel, cl_mem buffer, cl_uint number);
/// Of all words, after the queue has ended.
std::uint64_t sum_of(cl_command_queue queue, cl_mem buffer, std::size_t words);

}  // namespace surveyed
