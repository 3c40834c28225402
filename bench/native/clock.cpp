// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe clock` on a CPU: how many dependent additions, of one cycle each, a
// core makes in a second of the system's clock while all threads make them.
//
//   clock MILLISECONDS THREADS
//
// One JSON object on stdout: the cycles per second of each look of some 10 us. A thread that loses
// its core for a while has a slow look, and its others are not.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using Steady = std::chrono::steady_clock;

constexpr unsigned turns = 1000;
constexpr unsigned links = 32;

/// Cycles a second of one chain. An addition of a register to itself: no compiler knows it, and no
/// core leaves it out.
double look() {
  std::uint64_t value = 1;
  const auto begin = Steady::now();
  for (unsigned turn = 0; turn < turns; ++turn) {
    asm volatile(
        ".rept 32\n\t"
        "add %0, %0\n\t"
        ".endr"
        : "+r"(value));
  }
  const std::chrono::duration<double> took = Steady::now() - begin;
  return turns * links / took.count();
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: clock MILLISECONDS THREADS\n");
    return 2;
  }
  const auto end = Steady::now() + std::chrono::milliseconds(std::atoi(words[1]));
  const auto others = static_cast<unsigned>(std::max(1, std::atoi(words[2]))) - 1;
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < others; ++n) {
    threads.emplace_back([&] {
      while (Steady::now() < end) look();
    });
  }
  std::vector<double> looks;
  while (looks.empty() || Steady::now() < end) looks.push_back(look());
  for (std::thread& thread : threads) thread.join();
  // Of each hundredth part the best, as clprobe takes the fastest of several chains.
  std::printf("{\"hertz\": [");
  constexpr std::size_t parts = 100;
  const std::size_t part = std::max<std::size_t>(1, looks.size() / parts);
  for (std::size_t n = 0; n + part <= looks.size(); n += part) {
    const auto begin = looks.begin() + static_cast<std::ptrdiff_t>(n);
    std::printf("%s%.7g", n == 0 ? "" : ", ",
                *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(part)));
  }
  std::printf("]}\n");
  return 0;
}
