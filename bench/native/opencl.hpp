// SPDX-License-Identifier: Apache-2.0
// What plain OpenCL programs beside clprobe need.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace native {

inline void check(cl_int code, const char* call) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", call, code);
  std::exit(1);
}

/// Those of a platform, by its number; none where there is no such one.
inline std::vector<cl_device_id> devices_of(cl_uint platform) {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  if (platform >= count) return {};
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  cl_platform_id chosen = platforms[platform];
  check(clGetDeviceIDs(chosen, CL_DEVICE_TYPE_ALL, 0, nullptr, &count), "clGetDeviceIDs");
  std::vector<cl_device_id> devices(count);
  check(clGetDeviceIDs(chosen, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
        "clGetDeviceIDs");
  return devices;
}

inline cl_command_queue new_queue(cl_context context, cl_device_id device) {
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  return queue;
}

inline cl_mem new_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes,
                         void* host = nullptr) {
  cl_int code = CL_SUCCESS;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | flags, bytes, host, &code);
  check(code, "clCreateBuffer");
  return buffer;
}

/// A device in a context of its own.
struct Opened {
  cl_device_id device{};
  cl_context context{};
  cl_command_queue queue{};
};

/// By OpenCL's numbers; ends the program where there is no such device.
inline Opened open_device(std::size_t platform, std::size_t number) {
  Opened opened;
  opened.device = devices_of(static_cast<cl_uint>(platform)).at(number);
  cl_int code = CL_SUCCESS;
  opened.context = clCreateContext(nullptr, 1, &opened.device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  opened.queue = new_queue(opened.context, opened.device);
  return opened;
}

/// Of a program for some devices of the context.
inline cl_program build(cl_context context, const std::vector<cl_device_id>& devices,
                        const char* text) {
  cl_int code = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  check(code, "clCreateProgramWithSource");
  check(clBuildProgram(program, static_cast<cl_uint>(devices.size()), devices.data(), "", nullptr,
                       nullptr),
        "clBuildProgram");
  return program;
}

inline cl_kernel kernel_of(cl_program program, const char* name) {
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  check(code, "clCreateKernel");
  return kernel;
}

}  // namespace native
