// SPDX-License-Identifier: Apache-2.0
// What the native twins of clprobe's bandwidths on NVIDIA GPUs share: memory, and the rate of a
// launch.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace native {

inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

/// Memory of the device, which goes with its owner.
template <typename Value>
class Array {
 public:
  explicit Array(std::uint64_t count) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, std::max<std::uint64_t>(1, count) * sizeof(Value)), "cudaMalloc");
    values_ = static_cast<Value*>(memory);
  }
  ~Array() { cudaFree(values_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  [[nodiscard]] Value* get() const { return values_; }

 private:
  Value* values_{nullptr};
};

static __global__ void hold_stream(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0.0 : values[values.size() / 2];
}

/// Times launches by events. A kernel that spins goes before, so that the events and the launch are
/// in the stream before it ends: on an idle device the first event would have its time while the
/// host still makes the launch, which takes 1 to 2 % of a launch of 0.3 ms.
class Stopwatch {
 public:
  Stopwatch() {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }

  template <typename Launch>
  double seconds_of(Launch launch) {
    constexpr long long cycles = 60'000;  // some 30 us
    hold_stream<<<1, 1>>>(cycles);
    check(cudaEventRecord(begin_), "cudaEventRecord");
    launch();
    check(cudaEventRecord(end_), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "launch");
    float ms = 0.0F;
    check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
    return ms * 1e-3;
  }

 private:
  cudaEvent_t begin_{};
  cudaEvent_t end_{};
};

/// Launches of one kind, in bytes a second, and how often each moves its set.
struct Rates {
  std::vector<double> all{};
  std::uint64_t times{1};
};

/// Of each of `repeats` launches. `launch` takes how often it is to move `bytes`; a launch takes as
/// long as clprobe's do, 0.6 ms, since the first rounds over a set are slower than the others.
template <typename Launch>
Rates rates_of(Launch launch, double bytes, unsigned repeats) {
  constexpr double enough = 0.6e-3;
  Stopwatch watch;
  std::uint64_t times = 1;
  while (true) {
    const double seconds = watch.seconds_of([&] { launch(times); });
    const double wanted = std::ceil(static_cast<double>(times) * enough / seconds);
    const auto next =
        static_cast<std::uint64_t>(std::clamp(wanted, 1.0, static_cast<double>(times) * 64.0));
    const bool is_near = seconds >= enough / 4.0;
    times = std::max(next, std::uint64_t{1});
    if (is_near || next <= 1) break;
  }
  Rates rates;
  rates.times = times;
  for (unsigned n = 0; n < repeats; ++n) {
    const double seconds = watch.seconds_of([&] { launch(times); });
    rates.all.push_back(bytes * static_cast<double>(times) / seconds);
  }
  return rates;
}

/// Raises the clocks, as clprobe does before it measures.
template <typename Launch>
void warm_up(Launch launch) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300)) {
    launch();
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
}

}  // namespace native
