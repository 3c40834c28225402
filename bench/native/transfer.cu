// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe transfer` on an NVIDIA GPU: copies between host and device.
//
//   transfer_cuda to|from|both pinned|pageable|staged|managed|engine BYTES REPEATS
//
// Each repeat queues several copies and waits for all of them; where the host has a part it makes
// one. both: each way by a stream of its own. staged: the host copies between ordinary and pinned
// memory, which is then transferred, as where a mapping is a copy. managed: cudaMemcpy between
// ordinary and managed memory that lies on the device. One JSON object on stdout: the bytes per
// second of each repeat by the host's clock, those of both ways together.
//
// engine is nvbandwidth's way: a kernel holds the stream until all copies are queued, and events
// time them; to-duplex and from-duplex are one way while the other one has twice as much to do.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

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

struct Copies {
  std::string way;     // to or from
  std::string memory;  // pinned, pageable, staged, managed
  std::size_t bytes;
  void* ordinary_or_pinned;
  void* pinned;
  void* device;
  cudaStream_t stream;
};

cudaStream_t new_stream() {
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

void* device_memory(std::size_t bytes, bool is_managed) {
  void* memory = nullptr;
  if (is_managed) {
    check(cudaMallocManaged(&memory, bytes), "cudaMallocManaged");
  } else {
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
  }
  check(cudaMemset(memory, 0x5a, bytes),
        "cudaMemset");  // managed memory goes to the device with it
  return memory;
}

/// Queues one copy; one of the host's is done when this comes back.
void queue_copy(const Copies& copies) {
  const bool is_to = copies.way == "to";
  void* const host = copies.ordinary_or_pinned;
  if (copies.memory == "managed") {
    check(is_to ? cudaMemcpy(copies.device, host, copies.bytes, cudaMemcpyDefault)
                : cudaMemcpy(host, copies.device, copies.bytes, cudaMemcpyDefault),
          "cudaMemcpy");
    return;
  }
  const bool is_staged = copies.memory == "staged";
  void* const near = is_staged ? copies.pinned : host;
  if (is_staged && is_to) std::memcpy(near, host, copies.bytes);
  check(is_to ? cudaMemcpyAsync(copies.device, near, copies.bytes, cudaMemcpyHostToDevice,
                                copies.stream)
              : cudaMemcpyAsync(near, copies.device, copies.bytes, cudaMemcpyDeviceToHost,
                                copies.stream),
        "cudaMemcpyAsync");
  if (is_staged && !is_to) {
    check(cudaStreamSynchronize(copies.stream), "cudaStreamSynchronize");
    std::memcpy(host, near, copies.bytes);
  }
}

Copies copies_of(const std::string& way, const std::string& memory, std::size_t bytes) {
  const bool is_pinned = memory == "pinned" || memory == "engine";
  return {way,
          memory,
          bytes,
          host_memory(is_pinned, bytes),
          memory == "staged" ? host_memory(true, bytes) : nullptr,
          device_memory(bytes, memory == "managed"),
          new_stream()};
}

/// The seconds of so many copies each of all, by the host's clock.
double seconds_of(const std::vector<Copies>& all, std::size_t each) {
  const bool is_waited_for = all.front().memory == "pageable" || all.front().memory == "managed";
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < each; ++i) {
    for (const Copies& copies : all) queue_copy(copies);
    if (is_waited_for) check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

__global__ void hold_until(const volatile int* is_free) {
  while (*is_free == 0) {
  }
}

/// The seconds of so many copies of the first, by events, while the others make twice as many.
double engine_seconds_of(const std::vector<Copies>& all, std::size_t each, volatile int* is_free) {
  cudaEvent_t begin{};
  cudaEvent_t end{};
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  const Copies& timed = all.front();
  *is_free = 0;
  hold_until<<<1, 1, 0, timed.stream>>>(const_cast<const int*>(is_free));
  check(cudaEventRecord(begin, timed.stream), "cudaEventRecord");
  for (std::size_t n = 1; n < all.size(); ++n) {
    check(cudaStreamWaitEvent(all[n].stream, begin, 0), "cudaStreamWaitEvent");
    for (std::size_t i = 0; i < 2 * each; ++i) queue_copy(all[n]);
  }
  for (std::size_t i = 0; i < each; ++i) queue_copy(timed);
  check(cudaEventRecord(end, timed.stream), "cudaEventRecord");
  *is_free = 1;
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  float ms = 0.0F;
  check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  check(cudaEventDestroy(begin), "cudaEventDestroy");
  check(cudaEventDestroy(end), "cudaEventDestroy");
  return ms * 1e-3;
}

/// Those of each way that a word names; the one that is timed first.
std::vector<Copies> all_copies(const std::string& way, const std::string& memory,
                               std::size_t bytes) {
  if (way == "both" || way == "to-duplex") {
    return {copies_of("to", memory, bytes), copies_of("from", memory, bytes)};
  }
  if (way == "from-duplex")
    return {copies_of("from", memory, bytes), copies_of("to", memory, bytes)};
  return {copies_of(way, memory, bytes)};
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr,
                 "usage: transfer_cuda to|from|both pinned|pageable|staged|managed|engine "
                 "BYTES REPEATS\n");
    return 2;
  }
  const std::string way = words[1];
  const std::string memory = words[2];
  const auto bytes = static_cast<std::size_t>(std::strtoull(words[3], nullptr, 10));
  const int repeats = std::atoi(words[4]);
  const std::vector<Copies> all = all_copies(way, memory, bytes);
  int* is_free = nullptr;
  check(cudaMallocHost(&is_free, sizeof *is_free), "cudaMallocHost");
  const bool is_engine = memory == "engine";
  // The host copies pageable memory, and becomes faster at it for a tenth of a second: as few as in
  // a point of clprobe, so that both are as far.
  const auto each = is_engine ? std::size_t{16}
                    : memory == "pinned"
                        ? std::max<std::size_t>(4, (std::size_t{64} << 20U) / bytes)
                        : std::size_t{1};
  const double moved =
      static_cast<double>(bytes) * static_cast<double>(each) * (way == "both" ? 2.0 : 1.0);
  std::printf("{\"bytes_per_second\": [");
  for (int repeat = -1; repeat < repeats; ++repeat) {  // the first one warms up
    const double seconds =
        is_engine ? engine_seconds_of(all, each, is_free) : seconds_of(all, each);
    if (repeat >= 0) std::printf("%s%.6g", repeat == 0 ? "" : ", ", moved / seconds);
  }
  std::printf("]}\n");
  return 0;
}
