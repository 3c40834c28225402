// SPDX-License-Identifier: Apache-2.0
// Whether any memory that OpenCL makes for the host, or takes from it, is read over the link by a
// kernel: how fast one reads each kind, the first time and then.
//
//   host_memory PLATFORM DEVICE BYTES REPEATS
//
// PLATFORM and DEVICE are OpenCL's numbers. The kinds: the device's own, CL_MEM_ALLOC_HOST_PTR,
// CL_MEM_USE_HOST_PTR, and shared virtual memory, coarse-grained and fine-grained. One JSON object
// on stdout: by kind the bytes per second of each launch by the host's clock, or null where there
// is no such memory.
#define CL_TARGET_OPENCL_VERSION 200
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "opencl.hpp"

namespace {

using native::check;

constexpr const char* source_text =
    "kernel void sum(global const uint4* data, uint count, global uint* sums) {"
    "  uint4 sum = 0;"
    "  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) sum += data[i];"
    "  sums[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;"
    "}";

constexpr std::size_t items = std::size_t{1} << 18U;

struct Kind {
  const char* name;
  cl_mem buffer;  // or
  void* shared;
};

double launch(cl_command_queue queue, cl_kernel kernel, std::size_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(bytes) / took.count();
}

void print_rates(const Kind& kind, cl_command_queue queue, cl_kernel kernel, std::size_t bytes,
                 int repeats) {
  std::printf("\"%s\": ", kind.name);
  if (kind.buffer == nullptr && kind.shared == nullptr) {
    std::printf("null");
    return;
  }
  check(kind.shared != nullptr ? clSetKernelArgSVMPointer(kernel, 0, kind.shared)
                               : clSetKernelArg(kernel, 0, sizeof kind.buffer, &kind.buffer),
        "clSetKernelArg");
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::printf("%s%.6g", repeat == 0 ? "[" : ", ", launch(queue, kernel, bytes));
  }
  std::printf("]");
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr, "usage: host_memory PLATFORM DEVICE BYTES REPEATS\n");
    return 2;
  }
  const auto number = [&](int word) { return std::strtoull(words[word], nullptr, 10); };
  const native::Opened opened = native::open_device(number(1), number(2));
  cl_context context = opened.context;
  const std::size_t bytes = number(3);
  cl_kernel kernel = native::kernel_of(native::build(context, {opened.device}, source_text), "sum");
  const auto vectors = static_cast<cl_uint>(bytes / 16);
  cl_mem sums = native::new_buffer(context, 0, items * sizeof(cl_uint));
  check(clSetKernelArg(kernel, 1, sizeof vectors, &vectors), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof sums, &sums), "clSetKernelArg");
  std::vector<std::uint8_t> host(bytes, 1);
  const Kind kinds[] = {
      {"device", native::new_buffer(context, 0, bytes), nullptr},
      {"alloc_host_ptr", native::new_buffer(context, CL_MEM_ALLOC_HOST_PTR, bytes), nullptr},
      {"use_host_ptr", native::new_buffer(context, CL_MEM_USE_HOST_PTR, bytes, host.data()),
       nullptr},
      {"coarse", nullptr, clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0)},
      {"fine", nullptr,
       clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, 0)}};
  const char* before = "{";
  for (const Kind& kind : kinds) {
    std::printf("%s", before);
    print_rates(kind, opened.queue, kernel, bytes, static_cast<int>(number(4)));
    before = ", ";
  }
  std::printf("}\n");
  return 0;
}
