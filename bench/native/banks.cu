// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe banks` on an NVIDIA GPU: accesses to shared memory at offsets from a
// table, as one writes them by hand.
//
//   banks_cuda load-latency|load-throughput|store-throughput WORD_BYTES SUB_GROUPS REPEATS
//
// One JSON object on stdout: for each stride from 0 to 65 words, and each repeat, the cycles
// (clock64) of one access of a warp, from the earliest start to the latest end.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Word = std::uint32_t;

constexpr unsigned lanes = 32;
constexpr unsigned chains = 16;
constexpr unsigned steps = 32;
constexpr unsigned block_bytes = 8192;
constexpr unsigned hop_bytes = 1024;

struct Span {
  long long begin;
  long long end;
};

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "banks_cuda: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

__host__ __device__ Word moved(Word offset, Word by) {
  return (offset & ~(block_bytes - 1)) | ((offset + by) & (block_bytes - 1));
}

__device__ Word sum(Word value) { return value; }
__device__ Word sum(uint2 value) { return value.x + value.y; }
__device__ Word sum(uint4 value) { return (value.x + value.y) + (value.z + value.w); }

template <typename Type>
__device__ Type word_of(Word offset);
template <>
__device__ Word word_of<Word>(Word offset) {
  return offset;
}
template <>
__device__ uint2 word_of<uint2>(Word offset) {
  return make_uint2(offset, 0);
}
template <>
__device__ uint4 word_of<uint4>(Word offset) {
  return make_uint4(offset, 0, 0, 0);
}

/// `count` chains, `length` accesses of each in one turn; a load's result is the next address.
template <typename Type, bool stores, unsigned count, unsigned length>
__global__ void __launch_bounds__(1024)
    access(const Word* offsets, unsigned footprint, unsigned hop, unsigned turns, Word never,
           Span* spans, Word* ends) {
  extern __shared__ __align__(16) char memory[];
  for (unsigned at = threadIdx.x * 4; at < footprint + 16; at += blockDim.x * 4) {
    *reinterpret_cast<Word*>(memory + at) = at % sizeof(Type) == 0 ? moved(at, hop) : 0;
  }
  Word at[count];
  Word total = 0;
#pragma unroll
  for (unsigned j = 0; j < count; ++j) {
    at[j] = offsets[j * lanes + threadIdx.x % lanes];
    total += at[j];
  }
  if (total == never) return;
  __syncthreads();
  const long long begin = clock64();
  unsigned flip = hop;
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (unsigned step = 0; step < length; ++step) {
#pragma unroll
      for (unsigned j = 0; j < count; ++j) {
        if (stores) {
          *reinterpret_cast<Type*>(memory + at[j]) = word_of<Type>(at[j]);
          at[j] ^= flip;  // the cheapest way elsewhere: two instructions a store
        } else {
          at[j] = sum(*reinterpret_cast<const Type*>(memory + at[j]));
        }
      }
      flip ^= 3 * hop;
    }
  }
  total = 0;
#pragma unroll
  for (unsigned j = 0; j < count; ++j) total += at[j];
  // Behind the stores a load, which waits for its turn.
  if (stores) total += sum(*reinterpret_cast<const Type*>(memory + footprint));
  if (total == never) return;
  const long long end = clock64();
  spans[threadIdx.x] = {begin, end};
  ends[threadIdx.x] = total;
}

struct Settings {
  unsigned stride;
  unsigned sub_groups;
  unsigned repeats;
};

template <typename Type, bool stores, unsigned count, unsigned length>
std::vector<double> measure(const Settings& settings) {
  const unsigned items = settings.sub_groups * lanes;
  std::vector<Word> offsets;
  for (unsigned j = 0; j < count; ++j) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      offsets.push_back(moved(lane * settings.stride * sizeof(Type), j * hop_bytes));
    }
  }
  const unsigned last = (lanes - 1) * settings.stride * sizeof(Type) + sizeof(Type);
  const unsigned footprint = (last + block_bytes - 1) / block_bytes * block_bytes;
  Word* table = nullptr;
  Span* spans = nullptr;
  Word* ends = nullptr;
  check(cudaMalloc(&table, offsets.size() * sizeof(Word)), "cudaMalloc");
  check(cudaMalloc(&spans, items * sizeof(Span)), "cudaMalloc");
  check(cudaMalloc(&ends, items * sizeof(Word)), "cudaMalloc");
  check(cudaMemcpy(table, offsets.data(), offsets.size() * sizeof(Word), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  auto* const kernel = access<Type, stores, count, length>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(footprint + 16)),
        "cudaFuncSetAttribute");
  const unsigned turns = count == 1 ? 64 : 32;
  std::vector<double> cycles;
  std::vector<Span> seen(items);
  // The first launch raises the clocks and is not kept.
  for (unsigned n = 0; n <= settings.repeats; ++n) {
    kernel<<<1, items, footprint + 16>>>(table, footprint, hop_bytes, turns, ~Word{0}, spans, ends);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(seen.data(), spans, items * sizeof(Span), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    if (n == 0) continue;
    const auto first = std::min_element(seen.begin(), seen.end(), [](const Span& a, const Span& b) {
                         return a.begin < b.begin;
                       })->begin;
    const auto end = std::max_element(seen.begin(), seen.end(), [](const Span& a, const Span& b) {
                       return a.end < b.end;
                     })->end;
    const double accesses =
        static_cast<double>(turns) * length * count * (count == 1 ? 1 : settings.sub_groups);
    cycles.push_back(static_cast<double>(end - first) / accesses);
  }
  check(cudaFree(table), "cudaFree");
  check(cudaFree(spans), "cudaFree");
  check(cudaFree(ends), "cudaFree");
  return cycles;
}

template <typename Type>
std::vector<double> measure_series(const std::string& series, const Settings& settings) {
  if (series == "load-latency") return measure<Type, false, 1, steps>(settings);
  if (series == "load-throughput") return measure<Type, false, chains, 1>(settings);
  if (series == "store-throughput") return measure<Type, true, chains, 1>(settings);
  return {};
}

}  // namespace

int main(int count, char** words) {
  const std::string series = count == 5 ? words[1] : "";
  const auto number = [&](int place) {
    return count == 5 ? static_cast<unsigned>(std::strtoul(words[place], nullptr, 10)) : 0;
  };
  const unsigned word = number(2);
  const bool is_sound = number(3) >= 1 && number(3) <= 32 && number(4) >= 1;
  auto* const measure_word = word == 4    ? measure_series<Word>
                             : word == 8  ? measure_series<uint2>
                             : word == 16 ? measure_series<uint4>
                                          : nullptr;
  if (!is_sound || measure_word == nullptr || measure_word(series, {1, number(3), 1}).empty()) {
    std::fprintf(stderr,
                 "usage: banks_cuda load-latency|load-throughput|store-throughput 4|8|16 "
                 "SUB_GROUPS REPEATS\n");
    return 2;
  }
  constexpr unsigned last_stride = 65;
  std::printf("{\"series\": \"%s\", \"word_bytes\": %u, \"cycles\": [", words[1], word);
  for (unsigned stride = 0; stride <= last_stride; ++stride) {
    const std::vector<double> cycles = measure_word(series, {stride, number(3), number(4)});
    std::printf("%s[", stride > 0 ? ", " : "");
    for (std::size_t n = 0; n < cycles.size(); ++n) {
      std::printf("%s%.4f", n > 0 ? ", " : "", cycles[n]);
    }
    std::printf("]");
  }
  std::printf("]}\n");
  return 0;
}
