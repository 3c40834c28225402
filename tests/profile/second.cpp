// SPDX-License-Identifier: Apache-2.0
// A program of about a second, whose three kernels take a third of it each.
#include <array>
#include <chrono>
#include <cstdio>

#include "modes.hpp"
#include "opencl.hpp"

namespace surveyed {
namespace {

const std::string source =
    "kernel void triad(global const float* a, global const float* b, global float* c, uint n) {\n"
    "  c[get_global_id(0)] = a[get_global_id(0)] + 3.0f * b[get_global_id(0)];\n"
    "}\n"
    "kernel void transpose(global const float* a, global const float* b, global float* c, uint n) "
    "{\n"
    "  const uint row = get_global_id(0) / n, column = get_global_id(0) % n;\n"
    "  c[column * n + row] = a[row * n + column];\n"
    "}\n"
    "kernel void reduce(global const float* a, global const float* b, global float* c, uint n) {\n"
    "  local float sums[64];\n"
    "  const uint item = get_local_id(0);\n"
    "  sums[item] = a[get_global_id(0)] * b[get_global_id(0)];\n"
    "  for (uint apart = 32; apart > 0; apart /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (item < apart) sums[item] += sums[item + apart];\n"
    "  }\n"
    "  if (item == 0) c[get_group_id(0)] = sums[0];\n"
    "}\n";

cl_mem filled(const OpenCl& cl, cl_command_queue queue, std::size_t words) {
  const cl_mem buffer = cl.buffer(words);
  const cl_float one = 1.0F;
  check(clEnqueueFillBuffer(queue, buffer, &one, sizeof one, 0, words * sizeof one, 0, nullptr,
                            nullptr),
        "clEnqueueFillBuffer");
  return buffer;
}

}  // namespace

int second(Words words) {
  const std::size_t side = words.empty() ? 1024 : std::stoul(words[0]);
  const std::size_t items = side * side;
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_program program = cl.program(source);
  const std::array buffers{filled(cl, queue, items), filled(cl, queue, items),
                           filled(cl, queue, items)};
  for (const char* const name : {"triad", "transpose", "reduce"}) {
    const cl_kernel kernel = kernel_of(program, name);
    for (cl_uint i = 0; i < 3; ++i) {
      check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
    }
    const auto n = static_cast<cl_uint>(side);
    check(clSetKernelArg(kernel, 3, sizeof n, &n), "clSetKernelArg");
    constexpr std::size_t group = 64;
    constexpr std::chrono::duration<double> third{1.0 / 3};
    // Two at least, however long somebody looks at one of them.
    constexpr int least = 2;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < least || std::chrono::steady_clock::now() - began < third; ++i) {
      check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
      check(clFinish(queue), "clFinish");
    }
  }
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, buffers[2], items)));
  return 0;
}

}  // namespace surveyed
