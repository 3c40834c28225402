// SPDX-License-Identifier: Apache-2.0
// The plainest OpenCL program that launches kernels, beside the series queued and idle-queues of
// `clprobe launch`: what the driver's clEnqueueNDRangeKernel takes, whoever calls it.
//
//   launch_opencl PLATFORM DEVICE LAUNCHES REPEATS [IDLE_QUEUES]
//
// PLATFORM and DEVICE are OpenCL's numbers. Each repeat launches so many kernels of one work-item
// that add to a counter, and waits for all of them. Beside it are queues in which something ran
// once. One JSON object on stdout: the seconds of a launch of each repeat, by the host's clock.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "opencl.hpp"

namespace {

using native::check;

constexpr const char* source_text =
    "kernel void count_up(global uint* counter, uint more) { atomic_add(counter, more); }";

void launch(cl_command_queue queue, cl_kernel kernel) {
  const std::size_t one = 1;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}

}  // namespace

int main(int count, char** words) {
  if (count != 5 && count != 6) {
    std::fprintf(stderr, "usage: launch_opencl PLATFORM DEVICE LAUNCHES REPEATS [IDLE_QUEUES]\n");
    return 2;
  }
  const auto number = [&](int word) { return std::atoi(words[word]); };
  const native::Opened opened =
      native::open_device(static_cast<std::size_t>(number(1)), static_cast<std::size_t>(number(2)));
  const int launches = number(3);
  const int repeats = number(4);
  cl_kernel kernel =
      native::kernel_of(native::build(opened.context, {opened.device}, source_text), "count_up");
  cl_uint counted = 0;
  cl_mem counter =
      native::new_buffer(opened.context, CL_MEM_COPY_HOST_PTR, sizeof counted, &counted);
  const cl_uint more = 3;
  check(clSetKernelArg(kernel, 0, sizeof counter, &counter), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof more, &more), "clSetKernelArg");
  int others = 0;
  for (; count == 6 && others < number(5); ++others) {
    cl_command_queue idle = native::new_queue(opened.context, opened.device);
    launch(idle, kernel);
    check(clFinish(idle), "clFinish");
  }
  std::printf("{\"seconds\": [");
  for (int repeat = -3; repeat < repeats; ++repeat) {  // the first ones warm up
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) launch(opened.queue, kernel);
    check(clFinish(opened.queue), "clFinish");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (repeat >= 0) std::printf("%s%.6g", repeat == 0 ? "" : ", ", took.count() / launches);
  }
  std::printf("]}\n");
  check(clEnqueueReadBuffer(opened.queue, counter, CL_TRUE, 0, sizeof counted, &counted, 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
  if (counted == more * static_cast<cl_uint>(launches * (repeats + 3) + others)) return 0;
  std::fprintf(stderr, "launch_opencl: a launch is missing\n");
  return 1;
}
