// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe stride` on a CPU: each thread reads, or copies, a run of its own.
//
//   stream read|copy BUFFER_BYTES THREADS REPEATS small|huge
//
// One JSON object on stdout: the bytes per second of each repeat. A copy moves every byte twice.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "threads.hpp"

namespace {

using Word = std::uint32_t;

struct Settings {
  bool is_copy;
  std::uint64_t words;
  unsigned threads;
  unsigned repeats;
  bool on_huge_pages;
};

Word* allocate(const Settings& settings) {
  constexpr std::uint64_t huge_page = 2U << 20U;
  const std::uint64_t bytes = settings.words * sizeof(Word);
  auto* const memory = static_cast<Word*>(
      std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page));
  if (memory == nullptr) {
    std::fprintf(stderr, "stream: no memory of %llu bytes\n",
                 static_cast<unsigned long long>(bytes));
    std::exit(1);
  }
  madvise(memory, bytes, settings.on_huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  // Written before it is read: pages that nobody wrote are all the same zero page.
  for (std::uint64_t i = 0; i < settings.words; ++i) memory[i] = static_cast<Word>(i * 2654435761U);
  return memory;
}

Word sum_of(const Word* data, std::uint64_t count) {
  Word sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += data[i];
  return sum;
}

void copy(const Word* __restrict__ from, Word* __restrict__ to, std::uint64_t count) {
  // Adds a number as clprobe's kernel does; a plain copy would become a call of memcpy.
  for (std::uint64_t i = 0; i < count; ++i) to[i] = from[i] + 1;
}

/// Seconds of one pass of all threads.
double pass(const Settings& settings, const Word* from, Word* to, std::vector<Word>& sums) {
  const std::uint64_t share = settings.words / settings.threads;
  return native::seconds_of_threads(settings.threads, [&](unsigned number) {
    const std::uint64_t begin = number * share;
    if (settings.is_copy) {
      copy(from + begin, to + begin, share);
    } else {
      sums[number] = sum_of(from + begin, share);
    }
  });
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count == 6 ? words[1] : "";
  const std::string pages = count == 6 ? words[5] : "";
  if ((what != "read" && what != "copy") || (pages != "small" && pages != "huge")) {
    std::fprintf(stderr, "usage: stream read|copy BUFFER_BYTES THREADS REPEATS small|huge\n");
    return 2;
  }
  const Settings settings{what == "copy", std::strtoull(words[2], nullptr, 10) / sizeof(Word),
                          std::max(1U, static_cast<unsigned>(std::strtoul(words[3], nullptr, 10))),
                          static_cast<unsigned>(std::strtoul(words[4], nullptr, 10)),
                          pages == "huge"};
  const Word* const from = allocate(settings);
  Word* const to = settings.is_copy ? allocate(settings) : nullptr;
  std::vector<Word> sums(settings.threads);
  const double bytes =
      static_cast<double>(settings.words * sizeof(Word)) * (settings.is_copy ? 2.0 : 1.0);
  std::printf("{\"operation\": \"%s\", \"bytes_per_second\": [", what.c_str());
  Word witness = 0;
  // The first pass is not kept.
  for (unsigned n = 0; n <= settings.repeats; ++n) {
    const double seconds = pass(settings, from, to, sums);
    for (const Word sum : sums) witness += sum;
    if (n > 0) std::printf("%s%.6g", n > 1 ? ", " : "", bytes / seconds);
  }
  std::printf("], \"witness\": %u}\n", settings.is_copy ? to[settings.words / 2] : witness);
  return 0;
}
