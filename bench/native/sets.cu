// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe bandwidth` on an NVIDIA GPU: reading a working set again and again.
//
//   sets_cuda own|one|shared SET_BYTES REPEATS
//
// own: a block of 1,024 threads on each multiprocessor, which reads SET_BYTES of its own. one: such
// a block alone. shared: many blocks of 256 threads that each read pieces of one set, in an order in
// which neighbouring blocks are far from each other. One JSON object on stdout: the bytes per second of
// each repeat, by events.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr unsigned loads = 4;  // in flight in each thread

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "sets_cuda: %s: %s\n", call, cudaGetErrorString(error));
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

/// `rows`: of blockDim.x vectors each, a multiple of `loads`.
__global__ void read_own(const uint4* __restrict__ data, unsigned rows, unsigned turns,
                         unsigned* out) {
  const uint4* const own = data + std::uint64_t{blockIdx.x} * rows * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (unsigned turn = 0; turn < turns; ++turn) {
    for (unsigned row = 0; row < rows; row += loads) {
      uint4 value[loads];
#pragma unroll
      for (unsigned n = 0; n < loads; ++n) value[n] = own[(row + n) * blockDim.x];
#pragma unroll
      for (unsigned n = 0; n < loads; ++n) {
        sum += value[n].x ^ value[n].y ^ value[n].z ^ value[n].w;
      }
    }
  }
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

/// Each block reads `each` pieces of loads * blockDim.x vectors.
__global__ void read_shared(const uint4* __restrict__ data, unsigned pieces, unsigned stride,
                            unsigned each, unsigned* out) {
  unsigned sum = 0;
  for (unsigned i = 0; i < each; ++i) {
    const std::uint64_t turn = std::uint64_t{i} * gridDim.x + blockIdx.x;
    const unsigned piece = static_cast<unsigned>(turn * stride % pieces);
    const uint4* const begin = data + std::uint64_t{piece} * loads * blockDim.x + threadIdx.x;
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) value[n] = begin[n * blockDim.x];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) sum += value[n].x ^ value[n].y ^ value[n].z ^ value[n].w;
  }
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

template <typename Value>
Value* device_array(std::uint64_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(Value)), "cudaMalloc");
  return static_cast<Value*>(memory);
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count == 4 ? words[1] : "";
  const std::uint64_t bytes = count == 4 ? std::strtoull(words[2], nullptr, 10) : 0;
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const bool is_one = what == "one";
  const bool is_own = is_one || what == "own";
  const unsigned threads = is_own ? 1024 : 256;
  const auto units = static_cast<unsigned>(device.multiProcessorCount);
  const unsigned blocks = is_one ? 1 : is_own ? units : 8 * units;
  const std::uint64_t piece_bytes = sizeof(uint4) * loads * threads;
  const std::uint64_t pieces = bytes / piece_bytes;
  if ((!is_own && what != "shared") || pieces == 0) {
    std::fprintf(stderr, "usage: sets_cuda own|one|shared SET_BYTES REPEATS\n");
    return 2;
  }
  const auto repeats = static_cast<unsigned>(std::strtoul(words[3], nullptr, 10));
  const std::uint64_t buffer = pieces * piece_bytes * (is_own ? blocks : 1) / sizeof(uint4);
  uint4* const data = device_array<uint4>(buffer);
  unsigned* const out = device_array<unsigned>(std::uint64_t{blocks} * threads);
  fill<<<8192, 256>>>(data, buffer);
  // A step that meets all pieces before it meets one again.
  auto stride = static_cast<unsigned>(static_cast<double>(pieces) * 0.618);
  while (std::gcd(static_cast<std::uint64_t>(stride), pieces) != 1) ++stride;
  // As long as clprobe's launches, in which the first rounds over a shared set have as large a part:
  // some 0.6 ms at 8 TB/s. Of a set of their own 2 ms at 5 TB/s, and at 100 GB/s of one.
  const double wanted = (is_one ? 0.2e9 : is_own ? 10e9 : 4.8e9) / (static_cast<double>(blocks) * static_cast<double>(piece_bytes));
  const auto each = static_cast<unsigned>(wanted < 1.0 ? 1.0 : wanted);
  const auto turns = static_cast<unsigned>(each / pieces + 1);
  const double moved = static_cast<double>(blocks) * static_cast<double>(piece_bytes) *
                       (is_own ? static_cast<double>(turns * pieces) : static_cast<double>(each));
  cudaEvent_t begin;
  cudaEvent_t end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> rates;
  constexpr unsigned warm = 5;  // these raise the clocks and are not kept
  for (unsigned n = 0; n < repeats + warm; ++n) {
    check(cudaEventRecord(begin), "cudaEventRecord");
    if (is_own) {
      read_own<<<blocks, threads>>>(data, static_cast<unsigned>(pieces * loads), turns, out);
    } else {
      read_shared<<<blocks, threads>>>(data, static_cast<unsigned>(pieces), stride, each, out);
    }
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "launch");
    float ms = 0.0f;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (n >= warm) rates.push_back(moved / (ms * 1e-3));
  }
  std::printf("{\"mode\": \"%s\", \"set_bytes\": %llu, \"bytes_per_second\": [", what.c_str(),
              static_cast<unsigned long long>(bytes));
  for (std::size_t n = 0; n < rates.size(); ++n) std::printf("%s%.6g", n ? ", " : "", rates[n]);
  std::printf("]}\n");
  return 0;
}
