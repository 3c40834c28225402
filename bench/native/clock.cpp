// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe clock` on a CPU: how many dependent additions, of one cycle each, a
// core makes in a second of the system's clock while all threads calculate.
//
//   clock MILLISECONDS THREADS
//
// One JSON object on stdout: the cycles per second of each of a hundred parts of the time, the
// median of all cores. Between its looks of some 6 us each thread calculates as clprobe's load
// does.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using Steady = std::chrono::steady_clock;

constexpr unsigned turns = 512;
constexpr unsigned links = 32;
constexpr unsigned looks_of_best = 8;
constexpr unsigned parts = 100;

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

/// For about 0.1 ms: four sequences of products and fused ones that never settle.
void calculate(std::array<float, 4>& values) {
  constexpr unsigned steps = 1 << 15;
  for (unsigned step = 0; step < steps; ++step) {
    for (float& value : values) {
      const float grown = 3.9375F * value;
      value = std::fma(-grown, value, grown);
    }
  }
  asm volatile("" : : "g"(values.data()) : "memory");
}

struct Seen {
  std::size_t part;
  double hertz;
};

/// The best of several looks each time, since something may come between.
void burn(Steady::time_point begin, Steady::duration time, std::vector<Seen>& seen) {
  std::array<float, 4> values{0.3F, 0.4F, 0.6F, 0.7F};
  for (auto now = begin; now - begin < time; now = Steady::now()) {
    const auto part = static_cast<std::size_t>(parts * (now - begin) / time);
    double best = 0.0;
    for (unsigned n = 0; n < looks_of_best; ++n) {
      calculate(values);
      best = std::max(best, look());
    }
    seen.push_back({part, best});
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: clock MILLISECONDS THREADS\n");
    return 2;
  }
  const auto time = std::chrono::milliseconds(std::max(1, std::atoi(words[1])));
  std::vector<std::vector<Seen>> seen(static_cast<std::size_t>(std::max(1, std::atoi(words[2]))));
  const auto begin = Steady::now();
  std::vector<std::thread> threads;
  for (auto& each : seen) threads.emplace_back([&] { burn(begin, time, each); });
  for (std::thread& thread : threads) thread.join();
  std::array<std::vector<double>, parts> hertz;
  for (const auto& of_thread : seen) {
    for (const Seen& each : of_thread)
      hertz.at(std::min<std::size_t>(each.part, parts - 1)).push_back(each.hertz);
  }
  const char* comma = "";
  std::printf("{\"hertz\": [");
  for (const auto& each : hertz) {
    if (each.empty()) continue;
    std::printf("%s%.7g", comma, median(each));
    comma = ", ";
  }
  std::printf("]}\n");
  return 0;
}
