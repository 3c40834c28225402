// SPDX-License-Identifier: Apache-2.0
// Native twin of clprobe's probe `inflight` on CUDA: cycles of one block whose threads make
// independent loads of lines of 128 bytes that the second-level cache holds. Written without
// looking at cl/inflight.cl's code: loads and clock are PTX, the lines are handed to the kernel.
//   inflight_cuda THREADS LOADS REPEATS
// prints {"cycles": [of each repeat]}; a repeat is the mean of 3 rounds of one launch.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t buffer_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t lines = buffer_bytes / line_bytes;
constexpr int timed_rounds = 3;
constexpr int most_loads = 8;

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "inflight: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

__device__ unsigned load(const char* address) {
  unsigned value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

__global__ void touch(const char* buffer, unsigned long long* sink) {
  unsigned long long sum = 0;
  for (std::uint64_t line = blockIdx.x * blockDim.x + threadIdx.x; line < lines;
       line += gridDim.x * blockDim.x) {
    sum += load(buffer + line * line_bytes);
  }
  if (sum == ~0ull) *sink = sum;
}

// The clock of a warp that a barrier has let go. BAR.SYNC holds back a load of shared memory, but
// not a read of the clock, which each warp then makes when it gets there.
__device__ long long clock_of_release(unsigned zero) {
  unsigned value;
  asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(zero) : "memory");
  return value == 0 ? clock64() : 0;
}

template <int loads>
__global__ void __launch_bounds__(1024)
    block(const char* buffer, std::uint64_t first, unsigned long long never, long long* cycles,
          unsigned long long* sums) {
  __shared__ unsigned word;
  __shared__ long long begins[32];
  __shared__ long long ends[32];
  const unsigned zero = (unsigned)__cvta_generic_to_shared(&word);
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x == 0) word = 0;
  unsigned long long sum = 0;
  long long total = 0;
  // Unrolled, each round would have code of its own, which no round before has fetched.
#pragma unroll 1
  for (int round = 0; round <= timed_rounds; ++round) {
    const char* at[loads];
    unsigned long long ready = sum;
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const std::uint64_t line =
          first + (std::uint64_t)(round * loads + k) * blockDim.x + threadIdx.x;
      at[k] = buffer + line % lines * line_bytes;
      ready += (unsigned long long)at[k];
    }
    if (ready == never) *sums = ready;  // else addresses are made behind the barrier
    __syncthreads();
    const long long begin = clock_of_release(zero);
    unsigned value[loads];
#pragma unroll
    for (int k = 0; k < loads; ++k) value[k] = load(at[k]);
#pragma unroll
    for (int k = 0; k < loads; ++k) sum += value[k];
    // A barrier does not wait for loads, but a store before it does. Of a constant the compiler
    // would know that the sum of a few words cannot reach it.
    if (sum == never) *sums = sum;
    __syncthreads();
    const long long end = clock_of_release(zero);
    begins[warp] = begin;
    ends[warp] = end;
    __syncthreads();
    // Of the block: from the first warp that was let go to the first that was let go again.
    if (threadIdx.x == 0 && round > 0) {
      long long block_begin = begins[0];
      long long block_end = ends[0];
      for (unsigned other = 1; other < blockDim.x / 32; ++other) {
        block_begin = min(block_begin, begins[other]);
        block_end = min(block_end, ends[other]);
      }
      total += block_end - block_begin;
    }
  }
  if (threadIdx.x == 0) *cycles = total;
  sums[threadIdx.x] = sum;
}

void launch(int loads, int threads, const char* buffer, std::uint64_t first, long long* cycles,
            unsigned long long* sums) {
  switch (loads) {
    case 1:
      block<1><<<1, threads>>>(buffer, first, ~0ull, cycles, sums);
      break;
    case 2:
      block<2><<<1, threads>>>(buffer, first, ~0ull, cycles, sums);
      break;
    case 4:
      block<4><<<1, threads>>>(buffer, first, ~0ull, cycles, sums);
      break;
    case most_loads:
      block<most_loads><<<1, threads>>>(buffer, first, ~0ull, cycles, sums);
      break;
    default:
      std::fprintf(stderr, "inflight: 1, 2, 4 or 8 loads\n");
      std::exit(2);
  }
  check(cudaGetLastError(), "launch");
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: inflight_cuda THREADS LOADS REPEATS\n");
    return 2;
  }
  const int threads = std::atoi(words[1]);
  const int loads = std::atoi(words[2]);
  const int repeats = std::atoi(words[3]);
  char* buffer = nullptr;
  long long* cycles = nullptr;
  unsigned long long* sums = nullptr;
  check(cudaMalloc(&buffer, buffer_bytes), "cudaMalloc");
  check(cudaMalloc(&cycles, sizeof *cycles), "cudaMalloc");
  check(cudaMalloc(&sums, 1024 * sizeof *sums), "cudaMalloc");
  std::vector<unsigned> contents(buffer_bytes / sizeof(unsigned));
  for (std::size_t i = 0; i < contents.size(); ++i) contents[i] = (unsigned)i * 2654435761u;
  check(cudaMemcpy(buffer, contents.data(), buffer_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  std::uint64_t first = 0;
  std::printf("{\"cycles\": [");
  constexpr int warm = 3;
  // By one block, which runs where those that are timed will: the cache has two halves, and lines
  // that only others have read lie in the far one, in pieces of 512 KiB, 175 cycles away.
  touch<<<1, 1024>>>(buffer, sums);
  for (int repeat = -warm; repeat < repeats; ++repeat) {
    launch(loads, threads, buffer, first, cycles, sums);
    first += (std::uint64_t)(timed_rounds + 1) * loads * threads;
    long long found = 0;
    check(cudaMemcpy(&found, cycles, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (repeat >= 0) std::printf("%s%.2f", repeat > 0 ? ", " : "", (double)found / timed_rounds);
  }
  std::printf("]}\n");
  return 0;
}
