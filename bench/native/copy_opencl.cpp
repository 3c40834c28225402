// SPDX-License-Identifier: Apache-2.0
// The plainest OpenCL program that copies between a program's own memory and a device, beside the
// series to-device and from-device of `clprobe transfer` where they are small: what it takes to
// start.
//
//   copy_opencl PLATFORM DEVICE to|from BYTES REPEATS
//
// PLATFORM and DEVICE are OpenCL's numbers. One JSON object on stdout: the seconds of each repeat
// by the host's clock, until the queue is empty.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "opencl.hpp"

using native::check;

int main(int count, char** words) {
  const std::string way = count == 6 ? words[3] : "";
  if (way != "to" && way != "from") {
    std::fprintf(stderr, "usage: copy_opencl PLATFORM DEVICE to|from BYTES REPEATS\n");
    return 2;
  }
  const auto number = [&](int word) { return std::strtoull(words[word], nullptr, 10); };
  const native::Opened opened = native::open_device(number(1), number(2));
  const std::size_t bytes = number(4);
  cl_mem buffer = native::new_buffer(opened.context, 0, bytes);
  std::vector<std::uint8_t> host(bytes);
  std::printf("{\"seconds\": [");
  const auto repeats = static_cast<int>(number(5));
  for (int repeat = -3; repeat < repeats; ++repeat) {  // the first ones warm up
    host[0] = static_cast<std::uint8_t>(repeat);
    const auto begin = std::chrono::steady_clock::now();
    if (way == "to") {
      check(clEnqueueWriteBuffer(opened.queue, buffer, CL_TRUE, 0, bytes, host.data(), 0, nullptr,
                                 nullptr),
            "clEnqueueWriteBuffer");
    } else {
      check(clEnqueueReadBuffer(opened.queue, buffer, CL_TRUE, 0, bytes, host.data(), 0, nullptr,
                                nullptr),
            "clEnqueueReadBuffer");
    }
    check(clFinish(opened.queue), "clFinish");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (repeat >= 0) std::printf("%s%.6g", repeat == 0 ? "" : ", ", took.count());
  }
  std::printf("]}\n");
  return 0;
}
