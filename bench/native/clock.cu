// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe clock` on an NVIDIA GPU: the core's cycles by clock64 beside
// nanoseconds by globaltimer while all multiprocessors calculate.
//
//   clock_cuda MILLISECONDS
//
// One JSON object on stdout: the cycles per second of each launch of some 5 ms, and how many of the
// GPU's nanoseconds the host's clock counts for each of its own, from the first launch's end to the
// last's.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "rates.cuh"

namespace {

struct Moment {
  std::int64_t cycles;
  std::uint64_t ns;
};

__device__ Moment now() {
  Moment moment{};
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(moment.ns)::"memory");
  moment.cycles = clock64();
  return moment;
}

/// Fused products and sums whose operands never settle, four sequences a thread.
__global__ void burn(unsigned turns, Moment* moments, float* out) {
  const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (is_first) moments[0] = now();
  float values[4];
  for (unsigned n = 0; n < 4; ++n) {
    values[n] = 0.25F + 0.5F * static_cast<float>((thread * 4 + n) * 2654435761u >> 9) / 8388608.0F;
  }
  for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
#pragma unroll
      for (float& value : values) {
        const float grown = 3.9375F * value;
        value = __fmaf_rn(-grown, value, grown);
      }
    }
  }
  out[thread] = values[0] + values[1] + values[2] + values[3];
  if (is_first) moments[1] = now();
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: clock_cuda MILLISECONDS\n");
    return 2;
  }
  cudaDeviceProp device{};
  native::check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const auto blocks = 2U * static_cast<unsigned>(device.multiProcessorCount);
  constexpr unsigned threads = 1024;
  constexpr unsigned turns = 8'000;  // 64 operations a turn and 128 lanes: some 4 ms
  const native::Array<Moment> moments(2);
  const native::Array<float> out(std::uint64_t{blocks} * threads);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atoi(words[1]));
  std::printf("{\"hertz\": [");
  using Steady = std::chrono::steady_clock;
  std::uint64_t first_ns = 0;
  Steady::time_point first_time;
  double timer_by_host = 0.0;
  for (bool is_first = true; is_first || std::chrono::steady_clock::now() < end; is_first = false) {
    burn<<<blocks, threads>>>(turns, moments.get(), out.get());
    Moment both[2];
    native::check(cudaMemcpy(both, moments.get(), sizeof both, cudaMemcpyDeviceToHost), "launch");
    const auto cycles = static_cast<double>(both[1].cycles - both[0].cycles);
    std::printf("%s%.7g", is_first ? "" : ", ",
                cycles / static_cast<double>(both[1].ns - both[0].ns) * 1e9);
    const std::chrono::duration<double, std::nano> by_host = Steady::now() - first_time;
    if (is_first) {
      first_ns = both[1].ns;
      first_time = Steady::now();
    } else {
      timer_by_host = static_cast<double>(both[1].ns - first_ns) / by_host.count();
    }
  }
  std::printf("], \"timer_by_host\": %.8g}\n", timer_by_host);
  return 0;
}
