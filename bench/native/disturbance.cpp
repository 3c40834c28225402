// SPDX-License-Identifier: Apache-2.0
// What the same four measurements take, over and over: a trace of what disturbs a machine.
//
//   disturbance SECONDS EVERY_SECONDS MEMORY_BYTES THREADS
//
// A line for each turn, one of which begins every so many seconds: the seconds since the start, ns
// per hop (least, median) of a random chase through 16 KiB, 512 KiB and MEMORY_BYTES, and the GB/s
// (best, median) of all threads that read 512 MiB. As a visit of clprobe, each is a few samples in
// a row.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "cycle.hpp"

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t step = 64;
constexpr int samples_of_visit = 16;
// As those of clprobe on a CPU: long against a timer, short against a scheduler's slice.
constexpr double sample_ns = 5e5;

double ns_since(Steady::time_point begin) {
  return std::chrono::duration<double, std::nano>(Steady::now() - begin).count();
}

/// One random cycle, and where on it the chase stands.
struct Ring {
  void** at;
  std::size_t iterations;  ///< of a sample
};

double ns_per_hop(Ring& ring) {
  const auto begin = Steady::now();
  ring.at = native::chase(ring.at, ring.iterations);
  asm volatile("" : : "r"(ring.at) : "memory");
  return ns_since(begin) / static_cast<double>(ring.iterations * native::unroll);
}

Ring make_ring(std::size_t bytes, std::mt19937_64& random) {
  const std::size_t nodes = bytes / step;
  Ring ring{native::make_cycle(native::allocate(bytes, true), nodes, step, random),
            nodes / native::unroll};
  const double ns = ns_per_hop(ring);  // of a lap
  ring.iterations = std::max<std::size_t>(
      static_cast<std::size_t>(sample_ns / ns / static_cast<double>(native::unroll)), 1);
  return ring;
}

/// Memory that all threads read, each a run of its own.
struct Stream {
  const std::uint64_t* words;
  std::size_t count;
  unsigned threads;
};

Stream make_stream(unsigned threads) {
  constexpr std::size_t bytes = std::size_t{512} << 20U;
  char* const memory = native::allocate(bytes, true);
  return {reinterpret_cast<const std::uint64_t*>(memory), bytes / sizeof(std::uint64_t), threads};
}

double gigabytes_per_second(const Stream& stream) {
  static std::atomic<std::uint64_t> witness{0};
  const std::size_t share = stream.count / stream.threads;
  const auto begin = Steady::now();
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < stream.threads; ++n) {
    threads.emplace_back([&stream, share, n] {
      std::uint64_t sum = 0;
      for (std::size_t i = n * share; i < (n + 1) * share; ++i) sum += stream.words[i];
      witness += sum;
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto bytes = static_cast<double>(share * stream.threads * sizeof(std::uint64_t));
  return bytes / ns_since(begin);
}

/// The samples of one visit, sorted. The first, which finds the caches cold, is not kept.
std::vector<double> visit(const std::function<double()>& sample) {
  sample();
  std::vector<double> taken;
  for (int i = 0; i < samples_of_visit; ++i) taken.push_back(sample());
  std::sort(taken.begin(), taken.end());
  return taken;
}

/// The numbers of one turn, in memory of its own: where pages lie is a part of what disturbs, and a
/// run of clprobe has others than the run before it.
void print_turn(std::size_t memory_bytes, unsigned threads) {
  std::mt19937_64 random(42);
  for (const std::size_t bytes : {std::size_t{16} << 10U, std::size_t{512} << 10U, memory_bytes}) {
    Ring ring = make_ring(bytes, random);
    const std::vector<double> ns = visit([&ring] { return ns_per_hop(ring); });
    std::printf(" %.4g %.4g", ns.front(), ns[ns.size() / 2]);
  }
  const Stream stream = make_stream(threads);
  const std::vector<double> rates = visit([&stream] { return gigabytes_per_second(stream); });
  std::printf(" %.4g %.4g\n", rates.back(), rates[rates.size() / 2]);
}

/// In a process of its own; whether it came to its end.
bool take_turn(std::size_t memory_bytes, unsigned threads) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    print_turn(memory_bytes, threads);
    std::exit(0);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int count, char** words) {
  const auto number = [&](int n) { return count == 5 ? std::strtod(words[n], nullptr) : 0.0; };
  const std::chrono::duration<double> every(number(2));
  if (!(number(1) > 0.0) || !(every.count() > 0.0) || number(3) < 4096.0 || number(4) < 1.0) {
    std::fprintf(stderr, "usage: disturbance SECONDS EVERY_SECONDS MEMORY_BYTES THREADS\n");
    return 2;
  }
  const auto begin = Steady::now();
  for (int turn = 0; ns_since(begin) < 1e9 * number(1); ++turn) {
    std::printf("%.1f", ns_since(begin) / 1e9);
    std::fflush(stdout);
    if (!take_turn(static_cast<std::size_t>(number(3)), static_cast<unsigned>(number(4)))) {
      std::fprintf(stderr, "disturbance: a turn failed\n");
      return 1;
    }
    const auto next = begin + std::chrono::duration_cast<Steady::duration>((turn + 1) * every);
    std::this_thread::sleep_until(next);
  }
  return 0;
}
