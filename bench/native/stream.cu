// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe stride` on an NVIDIA GPU: a grid-stride read, or copy, of vectors of
// 16 bytes with several loads in flight.
//
//   stream_cuda read|copy BUFFER_BYTES REPEATS
//
// One JSON object on stdout: the bytes per second of each repeat, by events, for the best of
// several grids. A copy moves every byte twice.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr unsigned threads = 256;
constexpr unsigned loads = 8;  // in flight in each thread: 128 bytes

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "stream_cuda: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void fill(uint4* data, std::uint64_t count) {
  const std::uint64_t all = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += all) {
    const unsigned word = static_cast<unsigned>(i * 2654435761u);
    data[i] = make_uint4(word, word ^ 0x9e3779b9u, word * 3u, ~word);
  }
}

__global__ void read(const uint4* __restrict__ data, std::uint64_t count, unsigned* out) {
  const std::uint64_t all = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += all * loads) {
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) value[n] = data[i + n * all];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) {
      sum += value[n].x + value[n].y + value[n].z + value[n].w;
    }
  }
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

__global__ void copy(const uint4* __restrict__ from, uint4* __restrict__ to, std::uint64_t count) {
  const std::uint64_t all = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += all * loads) {
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) value[n] = from[i + n * all];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) to[i + n * all] = value[n];
  }
}

template <typename Value>
Value* device_array(std::uint64_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(Value)), "cudaMalloc");
  return static_cast<Value*>(memory);
}

template <typename Launch>
std::vector<double> repeat(unsigned repeats, double bytes, Launch launch) {
  cudaEvent_t begin;
  cudaEvent_t end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> rates;
  // The first launches raise the clocks and are not kept.
  constexpr unsigned warm = 5;
  for (unsigned n = 0; n < repeats + warm; ++n) {
    check(cudaEventRecord(begin), "cudaEventRecord");
    launch();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "launch");
    float ms = 0.0f;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (n >= warm) rates.push_back(bytes / (ms * 1e-3));
  }
  return rates;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0.0 : values[values.size() / 2];
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count == 4 ? words[1] : "";
  const std::uint64_t bytes = count == 4 ? std::strtoull(words[2], nullptr, 10) : 0;
  // All grids below divide the buffer, so that no load needs a bound.
  constexpr std::uint64_t most_threads = std::uint64_t{8192} * threads;
  const std::uint64_t vectors = bytes / sizeof(uint4);
  if ((what != "read" && what != "copy") || vectors == 0 || vectors % (most_threads * loads) != 0) {
    std::fprintf(stderr, "usage: stream_cuda read|copy BUFFER_BYTES REPEATS\n"
                         "BUFFER_BYTES is a multiple of 256 MiB\n");
    return 2;
  }
  const auto repeats = static_cast<unsigned>(std::strtoul(words[3], nullptr, 10));
  uint4* const from = device_array<uint4>(vectors);
  uint4* const to = what == "copy" ? device_array<uint4>(vectors) : nullptr;
  unsigned* const out = device_array<unsigned>(most_threads);
  fill<<<8192, threads>>>(from, vectors);
  if (to != nullptr) fill<<<8192, threads>>>(to, vectors);
  check(cudaDeviceSynchronize(), "fill");
  std::vector<double> best;
  unsigned best_blocks = 0;
  for (const unsigned blocks : {1024u, 2048u, 4096u, 8192u}) {
    const std::vector<double> rates =
        to == nullptr
            ? repeat(repeats, static_cast<double>(bytes),
                     [&] { read<<<blocks, threads>>>(from, vectors, out); })
            : repeat(repeats, 2.0 * static_cast<double>(bytes),
                     [&] { copy<<<blocks, threads>>>(from, to, vectors); });
    check(cudaGetLastError(), "launch");
    if (median(rates) > median(best)) {
      best = rates;
      best_blocks = blocks;
    }
  }
  std::printf("{\"operation\": \"%s\", \"blocks\": %u, \"bytes_per_second\": [", what.c_str(),
              best_blocks);
  for (std::size_t n = 0; n < best.size(); ++n) std::printf("%s%.6g", n ? ", " : "", best[n]);
  std::printf("]}\n");
  return 0;
}
