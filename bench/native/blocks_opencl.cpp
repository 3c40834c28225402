// SPDX-License-Identifier: Apache-2.0
// An array that is updated in several passes, block by block: all passes over a block come before
// the next block, so that blocks that fit a cache stay in it. bench/blocks.py predicts the time
// by block size.
//
//   blocks_opencl PLATFORM DEVICE ARRAY_BYTES PASSES BLOCK_BYTES...
//
// PLATFORM and DEVICE are OpenCL's numbers. One JSON object on stdout: the median time in seconds
// of all passes over the array, by block size.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "opencl.hpp"

namespace {

using native::check;

// Each work-item reads and writes 16 bytes.
constexpr const char* source_text =
    "kernel void update(global float4* values) {"
    "  values[get_global_id(0)] = values[get_global_id(0)] + 1.0f;"
    "}";
constexpr std::size_t item_bytes = 16;
constexpr std::size_t group = 256;
constexpr int repeats = 5;

struct Blocks {
  std::size_t array{0};
  std::size_t block{0};
  int passes{0};
};

void update(cl_command_queue queue, cl_kernel kernel, const Blocks& blocks) {
  for (std::size_t at = 0; at < blocks.array; at += blocks.block) {
    const std::size_t offset = at / item_bytes;
    const std::size_t items = std::min(blocks.block, blocks.array - at) / item_bytes;
    for (int pass = 0; pass < blocks.passes; ++pass) {
      check(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &items, &group, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
    }
  }
  check(clFinish(queue), "clFinish");
}

double median_seconds(cl_command_queue queue, cl_kernel kernel, const Blocks& blocks) {
  std::vector<double> seconds;
  for (int repeat = -1; repeat < repeats; ++repeat) {  // the first one warms up
    const auto begin = std::chrono::steady_clock::now();
    update(queue, kernel, blocks);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (repeat >= 0) seconds.push_back(took.count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) {
    std::fprintf(stderr,
                 "usage: blocks_opencl PLATFORM DEVICE ARRAY_BYTES PASSES BLOCK_BYTES...\n");
    return 2;
  }
  const auto number = [&](int word) { return std::strtoull(words[word], nullptr, 10); };
  const native::Opened opened = native::open_device(number(1), number(2));
  Blocks blocks{.array = number(3), .passes = static_cast<int>(number(4))};
  cl_kernel kernel =
      native::kernel_of(native::build(opened.context, {opened.device}, source_text), "update");
  std::vector<float> values(blocks.array / sizeof(float), 0.0F);
  cl_mem buffer =
      native::new_buffer(opened.context, CL_MEM_COPY_HOST_PTR, blocks.array, values.data());
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  std::printf("{");
  int updates = 0;
  for (int word = 5; word < count; ++word) {
    blocks.block = number(word);
    if (blocks.block == 0 || blocks.block % (group * item_bytes) != 0) {
      std::fprintf(stderr, "blocks_opencl: a block has a multiple of 4096 bytes\n");
      return 2;
    }
    std::printf("%s\"%zu\": %.6g", word == 5 ? "" : ", ", blocks.block,
                median_seconds(opened.queue, kernel, blocks));
    std::fflush(stdout);
    updates += blocks.passes * (repeats + 1);
  }
  std::printf("}\n");
  check(clEnqueueReadBuffer(opened.queue, buffer, CL_TRUE, 0, blocks.array, values.data(), 0,
                            nullptr, nullptr),
        "clEnqueueReadBuffer");
  const auto wrong = std::count_if(values.begin(), values.end(), [&](float value) {
    return value != static_cast<float>(updates);
  });
  if (wrong == 0) return 0;
  std::fprintf(stderr, "blocks_opencl: %td values are wrong\n", wrong);
  return 1;
}
