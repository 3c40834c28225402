// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe bandwidth` on a CPU: reading, writing or copying a working set again
// and again, in vectors of 64 bytes.
//
//   sets read|one|write|copy SET_BYTES THREADS REPEATS small|huge
//
// read: each thread reads the whole set, from a start of its own, in shares that go to whichever
// thread is free, as a driver's work-groups do: a core that someone else has taken for a while does
// fewer of them. one: a thread alone reads it. write and copy: each thread has a part of the set; a
// copy is from one half to the other, and moves every byte twice. One JSON object on stdout: the
// bytes per second of each repeat, by the wall clock.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "threads.hpp"

namespace {

// A line, and the widest register that an x86 has.
typedef std::uint32_t Words __attribute__((vector_size(64)));

// Vectors of a turn of the loop, each with a sum of its own.
constexpr std::uint64_t unroll = 8;

// Of each thread that reads what all share: as many as clprobe has work-groups for a core.
constexpr unsigned shares_of_thread = 32;

struct Settings {
  std::string what;
  std::uint64_t vectors;  // of the set
  unsigned threads;
  unsigned repeats;
  bool on_huge_pages;
};

Words* allocate(std::uint64_t bytes, bool on_huge_pages) {
  constexpr std::uint64_t huge_page = 2U << 20U;
  const std::uint64_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
  auto* const memory = static_cast<Words*>(std::aligned_alloc(huge_page, whole));
  if (memory == nullptr) {
    std::fprintf(stderr, "sets: no memory of %llu bytes\n", static_cast<unsigned long long>(bytes));
    std::exit(1);
  }
  madvise(memory, whole, on_huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  // Written before it is read: pages that nobody wrote are all the same zero page.
  for (std::uint64_t i = 0; i < whole / sizeof(Words); ++i) {
    memory[i] = Words{} + static_cast<std::uint32_t>(i * 2654435761U);
  }
  return memory;
}

/// Goes round over `count` vectors from `start` on, `turns` turns of eight.
Words read(const Words* data, std::uint64_t count, std::uint64_t start, std::uint64_t turns) {
  Words a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  // A pointer, since a number to be multiplied costs a core that adds two vectors a cycle 7 %.
  const Words* at = data + start;
  const Words* const end = data + count;
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    a += at[0];
    b += at[1];
    c += at[2];
    d += at[3];
    e += at[4];
    f += at[5];
    g += at[6];
    h += at[7];
    at += unroll;
    if (at == end) at = data;
  }
  return a + b + c + d + e + f + g + h;
}

void write(Words* data, std::uint64_t count, std::uint64_t turns, std::uint32_t launch) {
  std::uint64_t at = 0;
  Words value = Words{} + launch;
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    for (std::uint64_t n = 0; n < unroll; ++n) data[at + n] = value;
    value += 1;
    at += unroll;
    if (at == count) at = 0;
  }
}

void copy(const Words* __restrict__ from, Words* __restrict__ to, std::uint64_t count,
          std::uint64_t turns, std::uint32_t launch) {
  std::uint64_t at = 0;
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    for (std::uint64_t n = 0; n < unroll; ++n) to[at + n] = from[at + n] + launch;
    at += unroll;
    if (at == count) at = 0;
  }
}

class Bench {
 public:
  explicit Bench(const Settings& settings)
      : settings_(settings),
        is_shared_(settings.what == "read" || settings.what == "one"),
        shares_(settings.what == "read" ? shares_of_thread * settings.threads : settings.threads),
        directions_(settings.what == "copy" ? 2 : 1) {
    const std::uint64_t each = settings_.vectors / directions_;
    part_ = (is_shared_ ? each : each / settings_.threads) / unroll * unroll;
    if (part_ == 0) {
      std::fprintf(stderr, "sets: a set that its threads cannot share out\n");
      std::exit(2);
    }
    from_ = allocate(each * sizeof(Words), settings_.on_huge_pages);
    to_ = directions_ == 2 ? allocate(each * sizeof(Words), settings_.on_huge_pages) : from_;
    sums_.resize(shares_);
  }

  /// Seconds of one pass of all threads: so many turns of each share.
  double pass(std::uint64_t turns) {
    std::atomic<unsigned> next{0};
    const double seconds = native::seconds_of_threads(settings_.threads, [&](unsigned number) {
      if (settings_.what != "read") return work(number, turns);
      for (unsigned share = next++; share < shares_; share = next++) work(share, turns);
    });
    ++launch_;
    return seconds;
  }

  /// That one pass moves.
  [[nodiscard]] double bytes(std::uint64_t turns) const {
    return static_cast<double>(turns * unroll * sizeof(Words) * shares_ * directions_);
  }
  [[nodiscard]] unsigned shares() const { return shares_; }
  [[nodiscard]] std::uint32_t witness() const {
    std::uint32_t all = to_[part_ - 1][0];
    for (const Words& sum : sums_) all += sum[0];
    return all;
  }

 private:
  /// The vector at which a share starts. Those that follow each other are far apart, so that none
  /// finds in a cache what another one has just read.
  [[nodiscard]] std::uint64_t start(unsigned share) const {
    constexpr double golden = 0.618;
    auto step = static_cast<std::uint64_t>(golden * shares_) + 1;
    while (std::gcd(step, std::uint64_t{shares_}) > 1) ++step;
    return part_ / unroll * (share * step % shares_) / shares_ * unroll;
  }

  void work(unsigned n, std::uint64_t turns) {
    if (is_shared_) {
      sums_[n] = read(from_, part_, start(n), turns);
    } else if (directions_ == 1) {
      write(from_ + n * part_, part_, turns, launch_);
    } else {
      copy(from_ + n * part_, to_ + n * part_, part_, turns, launch_);
    }
  }

  const Settings& settings_;
  bool is_shared_;
  unsigned shares_;  // of one pass
  std::uint64_t directions_;
  std::uint64_t part_{0};
  Words* from_{nullptr};
  Words* to_{nullptr};
  std::vector<Words> sums_{};
  std::uint32_t launch_{0};
};

}  // namespace

int main(int count, char** words) {
  const std::string what = count == 6 ? words[1] : "";
  const std::string pages = count == 6 ? words[5] : "";
  const bool is_known = what == "read" || what == "one" || what == "write" || what == "copy";
  if (!is_known || (pages != "small" && pages != "huge")) {
    std::fprintf(stderr, "usage: sets read|one|write|copy SET_BYTES THREADS REPEATS small|huge\n");
    return 2;
  }
  const auto threads = static_cast<unsigned>(std::strtoul(words[3], nullptr, 10));
  const Settings settings{what, std::strtoull(words[2], nullptr, 10) / sizeof(Words),
                          what == "one" ? 1U : std::max(1U, threads),
                          static_cast<unsigned>(std::strtoul(words[4], nullptr, 10)),
                          pages == "huge"};
  Bench bench(settings);
  // So much for each thread that starting them is a small part, and that the set is gone over; and
  // so little that now and then nobody else wants a core meanwhile: 3 ms, as clprobe's launches.
  const std::uint64_t near_bytes = what == "write" || what == "copy" ? 1U << 28U : 1U << 29U;
  constexpr std::uint64_t far_bytes = 1U << 27U;
  constexpr std::uint64_t near_vectors = (1U << 20U) / sizeof(Words);
  const std::uint64_t bytes = settings.vectors <= near_vectors ? near_bytes : far_bytes;
  const std::uint64_t turns_of_thread =
      std::max(bytes / sizeof(Words), 2 * settings.vectors) / unroll;
  const std::uint64_t turns = turns_of_thread * settings.threads / bench.shares();
  bench.pass(turns);
  std::printf("{\"operation\": \"%s\", \"bytes_per_second\": [", what.c_str());
  for (unsigned n = 0; n < settings.repeats; ++n) {
    const double seconds = bench.pass(turns);
    std::printf("%s%.6g", n > 0 ? ", " : "", bench.bytes(turns) / seconds);
  }
  std::printf("], \"witness\": %u}\n", bench.witness());
  return 0;
}
