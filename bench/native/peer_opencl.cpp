// SPDX-License-Identifier: Apache-2.0
// The plainest OpenCL program that copies between two devices of a platform, beside the series
// to-peer and from-peer of `clprobe transfer`: what the driver's clEnqueueCopyBuffer does, whoever
// calls it.
//
//   peer_opencl PLATFORM FROM TO fill|mark BYTES REPEATS
//
// PLATFORM, FROM and TO are OpenCL's numbers. One context has both devices, and the queue of the
// one that gets the bytes makes the copy. Between copies the source is filled anew, so that the
// driver has something to do. One JSON object on stdout: the bytes per second of each repeat by the
// host's clock; or "skipped" and why there are none.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "opencl.hpp"

namespace {

using native::check;

[[noreturn]] void skip(const char* why) {
  std::printf("{\"skipped\": \"%s\"}\n", why);
  std::exit(0);
}

struct Side {
  cl_command_queue queue{};
  cl_mem buffer{};
};

Side side_of(cl_context context, cl_device_id device, std::size_t bytes) {
  return {native::new_queue(context, device), native::new_buffer(context, 0, bytes)};
}

constexpr const char* source_text =
    "kernel void mark(global uint* words, uint last, uint word) { words[0] = words[last] = word; }"
    "kernel void look(global uint* words, uint last, uint word) {"
    "  if (words[0] != word || words[last] != word) words[1] = ~word;"
    "}";

/// One work-item of a kernel of those above.
void run(cl_kernel kernel, const Side& side, cl_uint word, std::size_t bytes) {
  const auto last = static_cast<cl_uint>(bytes / sizeof word - 1);
  check(clSetKernelArg(kernel, 0, sizeof side.buffer, &side.buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof last, &last), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof word, &word), "clSetKernelArg");
  const std::size_t one = 1;
  check(clEnqueueNDRangeKernel(side.queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  check(clFinish(side.queue), "clFinish");
}

void fill(const Side& side, cl_uint word, std::size_t bytes) {
  check(clEnqueueFillBuffer(side.queue, side.buffer, &word, sizeof word, 0, bytes, 0, nullptr,
                            nullptr),
        "clEnqueueFillBuffer");
  check(clFinish(side.queue), "clFinish");
}

}  // namespace

int main(int count, char** words) {
  const std::string way = count == 7 ? words[4] : "";
  if (way != "fill" && way != "mark") {
    std::fprintf(stderr, "usage: peer_opencl PLATFORM FROM TO fill|mark BYTES REPEATS\n");
    return 2;
  }
  const auto number = [&](int word) { return std::strtoull(words[word], nullptr, 10); };
  const std::vector<cl_device_id> devices = native::devices_of(static_cast<cl_uint>(number(1)));
  const std::size_t from = number(2);
  const std::size_t to = number(3);
  if (from == to || from >= devices.size() || to >= devices.size()) skip("no two such devices");
  const std::size_t bytes = number(5);
  const auto repeats = static_cast<cl_uint>(number(6));
  const std::vector<cl_device_id> both{devices[from], devices[to]};
  cl_int code = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 2, both.data(), nullptr, nullptr, &code);
  if (code != CL_SUCCESS) skip("the driver has no context for both");
  const Side source = side_of(context, both[0], bytes);
  const Side target = side_of(context, both[1], bytes);
  cl_program program = native::build(context, both, source_text);
  cl_kernel mark = native::kernel_of(program, "mark");
  cl_kernel look = native::kernel_of(program, "look");
  fill(source, 0, bytes);
  fill(target, 0, bytes);
  std::printf("{\"bytes_per_second\": [");
  for (cl_uint repeat = 0; repeat <= repeats; ++repeat) {  // the first one warms up
    if (way == "fill") {
      fill(source, repeat + 1, bytes);
    } else {
      run(mark, source, repeat + 1, bytes);
    }
    const auto begin = std::chrono::steady_clock::now();
    check(clEnqueueCopyBuffer(target.queue, source.buffer, target.buffer, 0, 0, bytes, 0, nullptr,
                              nullptr),
          "clEnqueueCopyBuffer");
    check(clFinish(target.queue), "clFinish");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (way == "mark") run(look, target, repeat + 1, bytes);
    if (repeat > 0) {
      std::printf("%s%.6g", repeat == 1 ? "" : ", ", static_cast<double>(bytes) / took.count());
    }
  }
  std::printf("]}\n");
  cl_uint word = 0;
  check(clEnqueueReadBuffer(target.queue, target.buffer, CL_TRUE, bytes - sizeof word, sizeof word,
                            &word, 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  if (word == repeats + 1) return 0;
  std::fprintf(stderr, "peer_opencl: the last copy did not come\n");
  return 1;
}
