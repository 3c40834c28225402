// SPDX-License-Identifier: Apache-2.0
#include "opencl.hpp"

#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace surveyed {

void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::fprintf(stderr, "surveyed: %s: %d\n", what, error);
  std::exit(9);
}

OpenCl::OpenCl() {
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  cl_int error = CL_SUCCESS;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  check(error, "clCreateContext");
}

cl_command_queue OpenCl::queue(cl_command_queue_properties properties) const {
  cl_int error = CL_SUCCESS;
  const cl_command_queue made = clCreateCommandQueue(context, device, properties, &error);
  check(error, "clCreateCommandQueue");
  return made;
}

cl_program OpenCl::program(const std::string& source, const char* options) const {
  cl_int error = CL_SUCCESS;
  const char* text = source.c_str();
  const cl_program made = clCreateProgramWithSource(context, 1, &text, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(made, 1, &device, options, nullptr, nullptr), "clBuildProgram");
  return made;
}

cl_mem OpenCl::buffer(std::size_t words) const {
  cl_int error = CL_SUCCESS;
  std::vector<cl_uint> zeros(words, 0);
  const cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                     words * sizeof(cl_uint), zeros.data(), &error);
  check(error, "clCreateBuffer");
  return made;
}

cl_kernel kernel_of(cl_program program, const char* name) {
  cl_int error = CL_SUCCESS;
  const cl_kernel made = clCreateKernel(program, name, &error);
  check(error, "clCreateKernel");
  return made;
}

void set_arguments(cl_kernel kernel, cl_mem buffer, cl_uint number) {
  check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof(number), &number), "clSetKernelArg");
}

std::uint64_t sum_of(cl_command_queue queue, cl_mem buffer, std::size_t words) {
  std::vector<cl_uint> values(words);
  check(clFinish(queue), "clFinish");
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, words * sizeof(cl_uint), values.data(), 0,
                            nullptr, nullptr),
        "clEnqueueReadBuffer");
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

}  // namespace surveyed
