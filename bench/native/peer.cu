// SPDX-License-Identifier: Apache-2.0
// The native twin of the series to-peer and from-peer of `clprobe transfer`: copies between two NVIDIA
// GPUs of one host.
//
//   peer_cuda FROM TO direct|staged BYTES REPEATS
//
// FROM and TO are CUDA's numbers of the devices. direct: with peer access enabled, so that a copy may take
// the way between the devices; staged: without it. Each repeat makes several copies, each waited for as a
// transfer of clprobe is. One JSON object on stdout: the bytes per second of each repeat by the host's
// clock; or "skipped" and why there are none.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "peer_cuda: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

[[noreturn]] void skip(const char* why) {
  std::printf("{\"skipped\": \"%s\"}\n", why);
  std::exit(0);
}

/// Words that nothing can compress.
__global__ void fill(std::uint32_t* words, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t w = blockIdx.x * blockDim.x + threadIdx.x; w < count; w += step) {
    const auto number = static_cast<std::uint32_t>(w);
    words[w] = (0x7f4a7c15U * number + 0x42ef9505U) * number;
  }
}

std::uint32_t* filled_memory(int device, std::size_t bytes) {
  check(cudaSetDevice(device), "cudaSetDevice");
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  auto* const words = static_cast<std::uint32_t*>(memory);
  fill<<<256, 256>>>(words, bytes / sizeof(std::uint32_t));
  check(cudaDeviceSynchronize(), "fill");
  return words;
}

void enable_access(int device, int peer) {
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, peer), "cudaDeviceCanAccessPeer");
  if (can == 0) skip("the devices have no access to each other's memory");
  check(cudaSetDevice(device), "cudaSetDevice");
  check(cudaDeviceEnablePeerAccess(peer, 0), "cudaDeviceEnablePeerAccess");
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    std::fprintf(stderr, "usage: peer_cuda FROM TO direct|staged BYTES REPEATS\n");
    return 2;
  }
  const int from = std::atoi(words[1]);
  const int to = std::atoi(words[2]);
  const bool is_direct = std::string(words[3]) == "direct";
  const auto bytes = static_cast<std::size_t>(std::strtoull(words[4], nullptr, 10));
  const int repeats = std::atoi(words[5]);
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (devices < 2) skip("there is one device");
  if (from == to || std::min(from, to) < 0 || std::max(from, to) >= devices) {
    skip("CUDA has no two such devices");
  }
  if (is_direct) {
    enable_access(from, to);
    enable_access(to, from);
  }
  const std::uint32_t* const source = filled_memory(from, bytes);
  std::uint32_t* const target = filled_memory(to, bytes);
  const auto copies = std::max<std::size_t>(4, (std::size_t{64} << 20U) / bytes);
  const double moved = static_cast<double>(bytes) * static_cast<double>(copies);
  std::printf("{\"bytes_per_second\": [");
  for (int repeat = -1; repeat < repeats; ++repeat) {  // the first one warms up
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < copies; ++i) {
      check(cudaMemcpyPeer(target, to, source, from, bytes), "cudaMemcpyPeer");
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (repeat >= 0) std::printf("%s%.6g", repeat == 0 ? "" : ", ", moved / took.count());
  }
  std::printf("]}\n");
  return 0;
}
