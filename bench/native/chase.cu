// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe latency` on an NVIDIA GPU: pointer chases by one thread, as one
// writes them by hand.
//
//   chase_cuda global|local|constant WORKING_SET_BYTES STEP_BYTES REPEATS
//
// One JSON object on stdout: for each repeat the cycles (clock64) and the ns (globaltimer) of one
// hop.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using Word = std::uint32_t;

constexpr unsigned unroll = 16;
constexpr std::uint64_t timed_hops = 16384;
// Beyond this a lap by one thread would take too long: many threads sweep the cycle instead.
constexpr std::uint64_t largest_lap = 65536;
constexpr std::uint64_t constant_bytes = 65536;

__constant__ Word constant_table[constant_bytes / sizeof(Word)];

struct Timing {
  long long cycles;
  unsigned long long ns;
  std::uint64_t last;
};

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "chase_cuda: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

__device__ unsigned long long now_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

/// Follows `hop` `warm` x 16 times, then `iterations` x 16 times between two clock reads. Each read
/// waits for the loads before it by a branch on their result that is never taken.
template <typename Cursor, typename Hop>
__device__ void time_chase(Cursor at, Cursor never, unsigned warm, unsigned iterations, Timing* out,
                           Hop hop) {
#pragma unroll 1
  for (unsigned i = 0; i < warm; ++i) {
#pragma unroll
    for (unsigned n = 0; n < unroll; ++n) at = hop(at);
  }
  if (at == never) return;
  const unsigned long long begin_ns = now_ns();
  const long long begin = clock64();
#pragma unroll 1
  for (unsigned i = 0; i < iterations; ++i) {
#pragma unroll
    for (unsigned n = 0; n < unroll; ++n) at = hop(at);
  }
  if (at == never) return;
  const long long end = clock64();
  const unsigned long long end_ns = now_ns();
  *out = {end - begin, end_ns - begin_ns, (std::uint64_t)at};
}

__global__ void chase_global(void** start, unsigned warm, unsigned iterations, Timing* out) {
  time_chase(start, (void**)~0ull, warm, iterations, out, [](void** at) {
    // Said in PTX: of a pointer that was loaded the compiler does not know that it is global, and a
    // generic load takes longer.
    void** next;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    return next;
  });
}

__global__ void chase_local(const Word* next, unsigned nodes, unsigned step, unsigned warm,
                            unsigned iterations, Timing* out) {
  extern __shared__ char memory[];
  for (unsigned node = 0; node < nodes; ++node) {
    *reinterpret_cast<Word*>(memory + node * step) = next[node] * step;
  }
  __syncthreads();
  time_chase(Word{0}, ~Word{0}, warm, iterations, out,
             [](Word at) { return *reinterpret_cast<const Word*>(memory + at); });
}

__global__ void chase_constant(unsigned warm, unsigned iterations, Timing* out) {
  time_chase(Word{0}, ~Word{0}, warm, iterations, out, [](Word at) {
    return *reinterpret_cast<const Word*>(reinterpret_cast<const char*>(constant_table) + at);
  });
}

/// Many threads touch the nodes from position `begin` to `end` of the cycle, each a part of it.
__global__ void sweep(char* memory, const Word* order, std::uint64_t begin, std::uint64_t end,
                      std::uint64_t step, std::uint64_t* sink) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t share = (end - begin + threads - 1) / threads;
  const std::uint64_t first = begin + thread * share;
  if (first >= end) return;
  void** at = reinterpret_cast<void**>(memory + order[first] * step);
  for (std::uint64_t hop = 0; hop < share && first + hop < end; ++hop) {
    at = static_cast<void**>(*at);
  }
  sink[thread] = reinterpret_cast<std::uint64_t>(at);
}

/// A random permutation of one cycle (Sattolo 1986): node -> next node.
std::vector<Word> random_cycle(std::uint64_t nodes) {
  std::vector<Word> next(nodes);
  std::iota(next.begin(), next.end(), Word{0});
  std::mt19937_64 random(42);
  for (std::uint64_t i = nodes - 1; i > 0; --i) {
    std::swap(next[i], next[std::uniform_int_distribution<std::uint64_t>(0, i - 1)(random)]);
  }
  return next;
}

/// The nodes in the order of the cycle, from node 0.
std::vector<Word> cycle_order(const std::vector<Word>& next) {
  std::vector<Word> order(next.size());
  for (std::uint64_t k = 1; k < next.size(); ++k) order[k] = next[order[k - 1]];
  return order;
}

template <typename Value>
Value* device_array(std::uint64_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(Value)), "cudaMalloc");
  return static_cast<Value*>(memory);
}

template <typename Value>
Value* copy_to_device(const std::vector<Value>& values) {
  Value* const memory = device_array<Value>(values.size());
  check(cudaMemcpy(memory, values.data(), values.size() * sizeof(Value), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  return memory;
}

struct Settings {
  std::uint64_t bytes;
  std::uint64_t step;
  unsigned repeats;
};

struct Result {
  std::vector<double> cycles;
  std::vector<double> ns;
};

template <typename Launch>
Result repeat(const Settings& settings, unsigned iterations, Launch launch) {
  Timing* const out = device_array<Timing>(1);
  Result result;
  // The first launch raises the clocks and is not kept.
  for (unsigned n = 0; n <= settings.repeats; ++n) {
    check(cudaMemset(out, 0, sizeof(Timing)), "cudaMemset");
    launch(out);
    check(cudaGetLastError(), "launch");
    Timing timing{};
    check(cudaMemcpy(&timing, out, sizeof timing, cudaMemcpyDeviceToHost), "cudaMemcpy");
    const double hops = static_cast<double>(iterations) * unroll;
    if (n == 0) continue;
    result.cycles.push_back(static_cast<double>(timing.cycles) / hops);
    result.ns.push_back(static_cast<double>(timing.ns) / hops);
  }
  return result;
}

Result measure_global(const Settings& settings) {
  const std::uint64_t nodes = settings.bytes / settings.step;
  const std::vector<Word> order = cycle_order(random_cycle(nodes));
  char* const memory = device_array<char>(nodes * settings.step);
  std::vector<char> image(nodes * settings.step);
  for (std::uint64_t k = 0; k < nodes; ++k) {
    void* const to = memory + order[(k + 1) % nodes] * settings.step;
    std::copy_n(reinterpret_cast<const char*>(&to), sizeof to,
                image.data() + order[k] * settings.step);
  }
  check(cudaMemcpy(memory, image.data(), image.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  const Word* const order_there = copy_to_device(order);
  constexpr unsigned blocks = 512;
  constexpr unsigned threads = 256;
  std::uint64_t* const sink = device_array<std::uint64_t>(std::uint64_t{blocks} * threads);

  const bool is_large = nodes > largest_lap;
  const unsigned iterations = timed_hops / unroll;
  const auto warm = static_cast<unsigned>(is_large ? 0 : nodes / unroll + 1);
  return repeat(settings, iterations, [&](Timing* out) {
    if (is_large) {
      // What will be timed first, and then all the rest: a whole lap lies in between.
      sweep<<<blocks, threads>>>(memory, order_there, 0, timed_hops, settings.step, sink);
      sweep<<<blocks, threads>>>(memory, order_there, timed_hops, nodes, settings.step, sink);
    }
    chase_global<<<1, 1>>>(reinterpret_cast<void**>(memory), warm, iterations, out);
  });
}

Result measure_local(const Settings& settings) {
  const std::uint64_t nodes = settings.bytes / settings.step;
  const Word* const next = copy_to_device(random_cycle(nodes));
  const unsigned iterations = timed_hops / unroll;
  check(cudaFuncSetAttribute(chase_local, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(settings.bytes)),
        "cudaFuncSetAttribute");
  return repeat(settings, iterations, [&](Timing* out) {
    chase_local<<<1, 1, settings.bytes>>>(
        next, static_cast<unsigned>(nodes), static_cast<unsigned>(settings.step),
        static_cast<unsigned>(nodes / unroll + 1), iterations, out);
  });
}

Result measure_constant(const Settings& settings) {
  const std::uint64_t nodes = settings.bytes / settings.step;
  const std::vector<Word> next = random_cycle(nodes);
  std::vector<Word> table(constant_bytes / sizeof(Word));
  for (std::uint64_t node = 0; node < nodes; ++node) {
    table[node * settings.step / sizeof(Word)] = static_cast<Word>(next[node] * settings.step);
  }
  check(cudaMemcpyToSymbol(constant_table, table.data(), constant_bytes), "cudaMemcpyToSymbol");
  const unsigned iterations = timed_hops / unroll;
  return repeat(settings, iterations, [&](Timing* out) {
    chase_constant<<<1, 1>>>(static_cast<unsigned>(nodes / unroll + 1), iterations, out);
  });
}

void print_list(const char* name, const std::vector<double>& values) {
  std::printf(", \"%s\": [", name);
  for (std::size_t n = 0; n < values.size(); ++n) std::printf("%s%.4f", n ? ", " : "", values[n]);
  std::printf("]");
}

}  // namespace

int main(int count, char** words) {
  const std::string series = count == 5 ? words[1] : "";
  auto* const measure = series == "global"     ? measure_global
                        : series == "local"    ? measure_local
                        : series == "constant" ? measure_constant
                                               : nullptr;
  if (measure == nullptr) {
    std::fprintf(stderr,
                 "usage: chase_cuda global|local|constant WORKING_SET_BYTES STEP_BYTES REPEATS\n");
    return 2;
  }
  const Settings settings{std::strtoull(words[2], nullptr, 10),
                          std::strtoull(words[3], nullptr, 10),
                          static_cast<unsigned>(std::strtoul(words[4], nullptr, 10))};
  const bool too_large_constant = series == "constant" && settings.bytes > constant_bytes;
  if (settings.step < sizeof(void*) && series == "global" || settings.step < sizeof(Word) ||
      settings.bytes / settings.step < 2 || too_large_constant) {
    std::fprintf(stderr, "chase_cuda: no chase of this working set and step\n");
    return 2;
  }
  const Result result = measure(settings);
  std::printf("{\"series\": \"%s\", \"working_set_bytes\": %llu", series.c_str(),
              static_cast<unsigned long long>(settings.bytes));
  print_list("cycles", result.cycles);
  print_list("ns", result.ns);
  std::printf("}\n");
  return 0;
}
