// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe transfer` on a CPU, where host and device have one memory: what a
// thread copies by memcpy.
//
//   copies BYTES REPEATS
//
// One JSON object on stdout: the bytes per second of each repeat, after one that warms up.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Whole pages, as clprobe's memory of the host, and written: pages that nobody wrote are no memory.
std::uint32_t* allocate(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  auto* const words =
      static_cast<std::uint32_t*>(std::aligned_alloc(page, (bytes + page - 1) / page * page));
  if (words == nullptr) {
    std::fprintf(stderr, "copies: no memory of %zu bytes\n", bytes);
    std::exit(1);
  }
  for (std::size_t w = 0; w < bytes / sizeof *words; ++w) {
    words[w] = static_cast<std::uint32_t>(w) * 2654435761U;
  }
  return words;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: copies BYTES REPEATS\n");
    return 2;
  }
  const std::size_t bytes = std::strtoull(words[1], nullptr, 10);
  const auto repeats = static_cast<std::uint32_t>(std::strtoul(words[2], nullptr, 10));
  std::uint32_t* const from = allocate(bytes);
  std::uint32_t* const to = allocate(bytes);
  const std::size_t last = bytes / sizeof *from - 1;
  std::printf("{\"bytes_per_second\": [");
  for (std::uint32_t repeat = 0; repeat <= repeats; ++repeat) {
    from[last] = repeat;
    const auto begin = std::chrono::steady_clock::now();
    std::memcpy(to, from, bytes);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (to[last] != repeat) return 1;  // and so no compiler may leave out a copy
    if (repeat > 0) {
      std::printf("%s%.6g", repeat == 1 ? "" : ", ", static_cast<double>(bytes) / took.count());
    }
  }
  std::printf("]}\n");
  return 0;
}
