// SPDX-License-Identifier: Apache-2.0
// Whether NVIDIA's OpenCL copies from and to ordinary memory as fast as CUDA does: each by turns in
// one process, with the same memory on the host, so that whatever else the host does befalls both.
// First all copies to the device, then all from it: these write to the host's memory past its
// caches, so that the next copy from there finds nothing in them.
//
//   pageable_cuda PLATFORM BYTES BUFFERS TURNS
//
// PLATFORM is OpenCL's number. Both take the first device that CUDA_VISIBLE_DEVICES leaves them.
// BUFFERS on the host are used in turn: of one, the host's last cache holds more from copy to copy.
// One JSON object on stdout: the bytes per second of each turn, by way and by who copied.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "opencl.hpp"

namespace {

using native::check;

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "pageable_cuda: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

void* host_memory(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20U;
  void* const memory =
      std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
  auto* const words = static_cast<std::uint32_t*>(memory);
  for (std::size_t w = 0; w < bytes / sizeof *words; ++w) {
    words[w] = static_cast<std::uint32_t>(w) * 2654435761U;
  }
  return memory;
}

/// How both copy a host's buffer one way.
struct Way {
  const char* name;
  std::function<void(void*)> by_opencl;
  std::function<void(void*)> by_cuda;
  std::vector<double> of_opencl{};  // bytes per second
  std::vector<double> of_cuda{};
};

double rate_of(const std::function<void(void*)>& copy, void* host, std::size_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  copy(host);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(bytes) / took.count();
}

void print(const char* name, const std::vector<double>& rates, const char* end) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < rates.size(); ++i) std::printf("%s%.6g", i > 0 ? ", " : "", rates[i]);
  std::printf("]%s", end);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr, "usage: pageable_cuda PLATFORM BYTES BUFFERS TURNS\n");
    return 2;
  }
  const auto number = [&](int word) {
    return static_cast<std::size_t>(std::strtoull(words[word], nullptr, 10));
  };
  const std::size_t bytes = number(2);
  std::vector<void*> hosts;
  for (std::size_t n = 0; n < number(3); ++n) hosts.push_back(host_memory(bytes));
  void* of_cuda = nullptr;
  check(cudaMalloc(&of_cuda, bytes), "cudaMalloc");
  const native::Opened opened = native::open_device(number(1), 0);
  cl_command_queue queue = opened.queue;
  cl_mem of_opencl = native::new_buffer(opened.context, 0, bytes);
  const auto copy_by_cuda = [=](void* to, const void* from, cudaMemcpyKind kind) {
    check(cudaMemcpy(to, from, bytes, kind), "cudaMemcpy");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  };
  const auto finish = [=](cl_int queued, const char* call) {
    check(queued, call);
    check(clFinish(queue), "clFinish");
  };
  Way ways[]{
      {"to",
       [=](void* host) {
         finish(
             clEnqueueWriteBuffer(queue, of_opencl, CL_TRUE, 0, bytes, host, 0, nullptr, nullptr),
             "clEnqueueWriteBuffer");
       },
       [=](void* host) { copy_by_cuda(of_cuda, host, cudaMemcpyHostToDevice); }},
      {"from",
       [=](void* host) {
         finish(clEnqueueReadBuffer(queue, of_opencl, CL_TRUE, 0, bytes, host, 0, nullptr, nullptr),
                "clEnqueueReadBuffer");
       },
       [=](void* host) { copy_by_cuda(host, of_cuda, cudaMemcpyDeviceToHost); }}};
  const std::size_t turns = number(4);
  for (Way& way : ways) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
      const auto by = [&](bool is_opencl) {
        // Both copy the same memory, one right after the other.
        void* const host = hosts[turn % hosts.size()];
        std::vector<double>& rates = is_opencl ? way.of_opencl : way.of_cuda;
        rates.push_back(rate_of(is_opencl ? way.by_opencl : way.by_cuda, host, bytes));
      };
      const bool is_opencl_first = turn / hosts.size() % 2 == 0;
      by(is_opencl_first);
      by(!is_opencl_first);
    }
  }
  std::printf("{");
  for (const Way& way : ways) {
    std::printf("\"%s\": {", way.name);
    print("opencl", way.of_opencl, ", ");
    print("cuda", way.of_cuda, &way == &ways[0] ? "}, " : "}");
  }
  std::printf("}\n");
  return 0;
}
