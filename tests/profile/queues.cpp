// SPDX-License-Identifier: Apache-2.0
// What a survey must not change, and what it cannot time.
#include <cstdio>

#include "modes.hpp"
#include "opencl.hpp"

namespace surveyed {
namespace {

const std::string source =
    "kernel void add(global uint* a, uint n) { a[get_global_id(0)] += n; }\n";

void CL_CALLBACK count_up(void* arguments) { ++**static_cast<int**>(arguments); }

/// Everything that a queue says of how it was made, and whether its events have times.
void show(const OpenCl& cl, const char* name, cl_command_queue queue, cl_int made) {
  std::fprintf(stdout, "%s: made %d", name, made);
  if (queue == nullptr) {
    std::fprintf(stdout, "\n");
    return;
  }
  cl_command_queue_properties properties = 0;
  std::size_t needed = 0;
  cl_int error =
      clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties, &needed);
  std::fprintf(stdout, ", properties %d %zu %llu", error, needed,
               static_cast<unsigned long long>(properties));
  error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 0, nullptr, &needed);
  std::fprintf(stdout, ", list %d", error);
  if (error == CL_SUCCESS) {
    std::vector<cl_queue_properties> list(needed / sizeof(cl_queue_properties));
    if (needed > 0) {
      std::fprintf(
          stdout, " short %d",
          clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 1, list.data(), nullptr));
    }
    error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, needed, list.data(), nullptr);
    std::fprintf(stdout, " %d", error);
    for (const cl_queue_properties word : list) {
      std::fprintf(stdout, " %llu", static_cast<unsigned long long>(word));
    }
  }
  const cl_kernel kernel = kernel_of(cl.program(source), "add");
  set_arguments(kernel, cl.buffer(64), 1);
  constexpr std::size_t global = 64;
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, &event),
        "clEnqueueNDRangeKernel");
  check(clWaitForEvents(1, &event), "clWaitForEvents");
  cl_ulong time = 0;
  error = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(time), &time, nullptr);
  std::fprintf(stdout, ", times %d\n", error);
  check(clReleaseEvent(event), "clReleaseEvent");
  check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
}

using List = std::vector<cl_queue_properties>;

void show_with_list(const OpenCl& cl, const char* name, const List& list) {
  cl_int made = CL_SUCCESS;
  const cl_command_queue queue = clCreateCommandQueueWithProperties(
      cl.context, cl.device, list.empty() ? nullptr : list.data(), &made);
  show(cl, name, queue, made);
}

}  // namespace

int queues(Words /*words*/) {
  const OpenCl cl;
  constexpr cl_command_queue_properties any_order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  constexpr cl_command_queue_properties timed = CL_QUEUE_PROFILING_ENABLE;
  for (const cl_command_queue_properties properties :
       {cl_command_queue_properties{0}, any_order, timed, any_order | timed,
        cl_command_queue_properties{1} << 40U}) {
    cl_int made = CL_SUCCESS;
    const cl_command_queue queue = clCreateCommandQueue(cl.context, cl.device, properties, &made);
    show(cl, "old way", queue, made);
  }
  show_with_list(cl, "no list", {});
  show_with_list(cl, "empty list", {0});
  show_with_list(cl, "order", {CL_QUEUE_PROPERTIES, any_order, 0});
  show_with_list(cl, "nothing", {CL_QUEUE_PROPERTIES, 0, 0});
  show_with_list(cl, "times", {CL_QUEUE_PROPERTIES, timed, 0});
  show_with_list(cl, "unknown", {0x7777, 1, 0});
  show_with_list(cl, "on the device",
                 {CL_QUEUE_PROPERTIES, any_order | CL_QUEUE_ON_DEVICE, CL_QUEUE_SIZE, 1024, 0});
  return 0;
}

int gaps(Words /*words*/) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_kernel kernel = kernel_of(cl.program(source), "add");
  set_arguments(kernel, cl.buffer(64), 1);
  constexpr std::size_t global = 64;
  constexpr std::size_t too_large = std::size_t{1} << 30U;
  const cl_int refused =
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &too_large, 0, nullptr, nullptr);
  int calls = 0;
  int* place = &calls;
  const cl_int called = clEnqueueNativeKernel(queue, count_up, &place, sizeof(place), 0, nullptr,
                                              nullptr, 0, nullptr, nullptr);
  check(clFinish(queue), "clFinish");
  void* const shared = clSVMAlloc(cl.context, CL_MEM_READ_WRITE, 64 * sizeof(cl_uint), 0);
  cl_int svm = CL_INVALID_VALUE;
  if (shared != nullptr) {
    svm = clSetKernelArgSVMPointer(kernel, 0, shared);
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
  }
  const bool has_buffers =
      clGetExtensionFunctionAddressForPlatform(cl.platform, "clEnqueueCommandBufferKHR") != nullptr;
  std::fprintf(stdout, "refused %d called %d %d svm %d command buffers %d\n", refused, called,
               calls, svm, has_buffers ? 1 : 0);
  return 0;
}

}  // namespace surveyed
