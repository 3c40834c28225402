// SPDX-License-Identifier: Apache-2.0
// Copies that are wrong, each in another way: none may have the sum of the right one.
#include "probes/shared/permutation.hpp"
#include "probes/transfer/transfer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace clprobe::transfer {
namespace {

using Words = std::vector<std::uint32_t>;

Words contents(std::uint64_t words) {
  Words all(words);
  for (std::uint64_t w = 0; w < words; ++w) all[w] = mixed(static_cast<std::uint32_t>(w));
  return all;
}

/// Returns the words that are sent, with the marks of a sample.
Words marked(const Marks& marks) {
  Words all = contents(marks.words());
  marks.write_to(all);
  return all;
}

/// Returns the words that the previous sample transferred, which lie at the destination before the
/// transfer.
Words of_the_sample_before(const Marks& marks) {
  return marked(Marks(marks.words(), marks.launch() - 1));
}

/// Returns true if the checksum differs after a transfer of only the first `copied` words.
bool sees_copy_of_first(std::uint64_t copied, const Marks& marks) {
  Words there = of_the_sample_before(marks);
  const Words sent = marked(marks);
  std::copy_n(sent.begin(), copied, there.begin());
  return marks.sum_in(there) != marks.expected_sum();
}

constexpr std::uint64_t sizes[]{2, 3, 4, 256, 511, 512, 513, 4096, 100003};

}  // namespace

TEST_CASE("transfer: marks stand in order, the first and the last word among them") {
  for (const std::uint64_t words : sizes) {
    CAPTURE(words);
    const Marks marks(words, 7);
    CHECK(marks.count() == std::min<std::uint64_t>(words, 512));
    std::set<std::uint64_t> places;
    for (std::uint32_t mark = 0; mark < marks.count(); ++mark) {
      CHECK(marks.place(mark) < words);
      if (mark > 0) CHECK(marks.place(mark) > marks.place(mark - 1));
      places.insert(marks.place(mark));
    }
    CHECK(places.size() == marks.count());
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == words - 1);
  }
  CHECK(Marks(1, 7).count() == 1);
}

TEST_CASE("transfer: a right copy has the sum, and a kernel that gathers the marks, too") {
  for (const std::uint64_t words : sizes) {
    CAPTURE(words);
    const Marks marks(words, 7);
    const Words there = marked(marks);
    CHECK(marks.sum_in(there) == marks.expected_sum());
    Words gathered;
    for (std::uint32_t mark = 0; mark < marks.count(); ++mark) {
      gathered.push_back(there[marks.place(mark)]);
    }
    CHECK(sum_of_marks(gathered) == marks.expected_sum());
    // Marks in another order have another checksum.
    std::swap(gathered.front(), gathered.back());
    CHECK(sum_of_marks(gathered) != marks.expected_sum());
  }
}

TEST_CASE("transfer: the sum is the one that cl/transfer.cl and another program have") {
  // A Python program computed the sum of mixed(512 * 7 + mark) times 2 * mark + 1.
  CHECK(mixed(1) == 0x688990c0U);
  CHECK(Marks(4, 7).expected_sum() == 40215517302ULL);
}

TEST_CASE("transfer: copies without their first or last words, or of a part, are seen") {
  for (const std::uint64_t words : sizes) {
    CAPTURE(words);
    for (std::uint32_t launch = 2; launch < 12; ++launch) {
      const Marks marks(words, launch);
      CHECK(sees_copy_of_first(0, marks));  // nothing was copied: old marks
      CHECK(sees_copy_of_first(1, marks));
      CHECK(sees_copy_of_first(words / 2, marks));
      CHECK(sees_copy_of_first(words - 1, marks));
      Words there = marked(marks);
      there.front() = of_the_sample_before(marks).front();
      CHECK(marks.sum_in(there) != marks.expected_sum());
    }
  }
}

TEST_CASE("transfer: copies to another place are seen") {
  for (const std::uint64_t words : sizes) {
    CAPTURE(words);
    const Marks marks(words, 7);
    for (const std::uint64_t by : {std::uint64_t{1}, words / 2, words - 1}) {
      if (by == 0) continue;
      CAPTURE(by);
      Words there = of_the_sample_before(marks);
      const Words sent = marked(marks);
      std::copy_n(sent.begin(), words - by, there.begin() + static_cast<std::ptrdiff_t>(by));
      CHECK(marks.sum_in(there) != marks.expected_sum());
      Words turned = sent;
      std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(by), turned.end());
      CHECK(marks.sum_in(turned) != marks.expected_sum());
    }
  }
}

TEST_CASE("transfer: a hole in the middle is seen sooner or later, since places change") {
  constexpr std::uint64_t words = 1U << 20U;
  constexpr std::uint64_t hole = 1024;  // half of the distance of two marks
  int seen = 0;
  for (std::uint32_t launch = 2; launch < 102; ++launch) {
    const Marks marks(words, launch);
    const Words before = of_the_sample_before(marks);
    Words there = marked(marks);
    std::copy_n(before.begin() + words / 2, hole, there.begin() + words / 2);
    if (marks.sum_in(there) != marks.expected_sum()) ++seen;
  }
  CHECK(seen > 30);
  CHECK(seen < 70);
}

}  // namespace clprobe::transfer
