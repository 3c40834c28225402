// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe transfer` on an NVIDIA GPU: copies between host and device.
//
//   transfer_cuda to|from|both pinned|pageable BYTES REPEATS
//
// Each repeat queues several copies and waits for all of them; of pageable memory it makes one.
// both: each way by a stream of its own. One JSON object on stdout: the bytes per second of each repeat
// by the host's clock, those of both ways together.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "transfer_cuda: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

void* host_memory(bool is_pinned, std::size_t bytes) {
  void* memory = nullptr;
  if (is_pinned) {
    check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  } else {
    memory = std::aligned_alloc(1U << 21U, (bytes + (1U << 21U) - 1) >> 21U << 21U);
  }
  auto* const words = static_cast<std::uint32_t*>(memory);
  for (std::size_t w = 0; w < bytes / sizeof(std::uint32_t); ++w) {
    const auto number = static_cast<std::uint32_t>(w);
    words[w] = (0x7f4a7c15U * number + 0x42ef9505U) * number;
  }
  return memory;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr, "usage: transfer_cuda to|from|both pinned|pageable BYTES REPEATS\n");
    return 2;
  }
  const std::string way = words[1];
  const bool is_pinned = std::string(words[2]) == "pinned";
  const auto bytes = static_cast<std::size_t>(std::strtoull(words[3], nullptr, 10));
  const int repeats = std::atoi(words[4]);
  void* const source = host_memory(is_pinned, bytes);
  void* const target = host_memory(is_pinned, bytes);
  void* in = nullptr;
  void* out = nullptr;
  check(cudaMalloc(&in, bytes), "cudaMalloc");
  check(cudaMalloc(&out, bytes), "cudaMalloc");
  check(cudaMemset(out, 0x5a, bytes), "cudaMemset");
  cudaStream_t to{};
  cudaStream_t from{};
  check(cudaStreamCreateWithFlags(&to, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaStreamCreateWithFlags(&from, cudaStreamNonBlocking), "cudaStreamCreate");
  // The host copies pageable memory, and becomes faster at it for a tenth of a second: as few as in
  // a point of clprobe, so that both are as far.
  const auto copies =
      is_pinned ? std::max<std::size_t>(4, (std::size_t{64} << 20U) / bytes) : std::size_t{1};
  const double moved = static_cast<double>(bytes) * static_cast<double>(copies) *
                       (way == "both" ? 2.0 : 1.0);
  std::printf("{\"bytes_per_second\": [");
  for (int repeat = -1; repeat < repeats; ++repeat) {  // the first one warms up
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < copies; ++i) {
      if (way != "from") {
        check(cudaMemcpyAsync(in, source, bytes, cudaMemcpyHostToDevice, to), "cudaMemcpyAsync");
      }
      if (way != "to") {
        check(cudaMemcpyAsync(target, out, bytes, cudaMemcpyDeviceToHost, from),
              "cudaMemcpyAsync");
      }
      if (!is_pinned) check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (repeat >= 0) std::printf("%s%.6g", repeat == 0 ? "" : ", ", moved / took.count());
  }
  std::printf("]}\n");
  return 0;
}
