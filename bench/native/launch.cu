// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe launch` on an NVIDIA GPU: kernels of one thread that add to a counter.
//
//   launch_cuda LAUNCHES REPEATS
//
// Each repeat launches so many into one stream and waits for all of them. One JSON object on stdout: the
// seconds of a launch of each repeat, by the host's clock.
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "launch_cuda: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void count_up(unsigned* counter, unsigned more) { counter[0] += more; }

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: launch_cuda LAUNCHES REPEATS\n");
    return 2;
  }
  const int launches = std::atoi(words[1]);
  const int repeats = std::atoi(words[2]);
  unsigned* counter = nullptr;
  check(cudaMalloc(&counter, sizeof *counter), "cudaMalloc");
  check(cudaMemset(counter, 0, sizeof *counter), "cudaMemset");
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  std::printf("{\"seconds\": [");
  for (int repeat = -3; repeat < repeats; ++repeat) {  // the first ones warm up
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) count_up<<<1, 1, 0, stream>>>(counter, 3);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (repeat >= 0) std::printf("%s%.6g", repeat == 0 ? "" : ", ", took.count() / launches);
  }
  std::printf("]}\n");
  unsigned found = 0;
  check(cudaMemcpy(&found, counter, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (found != 3U * static_cast<unsigned>(launches * (repeats + 3))) {
    std::fprintf(stderr, "launch_cuda: a launch is missing\n");
    return 1;
  }
  return 0;
}
