// SPDX-License-Identifier: Apache-2.0
// The witness of a transfer: words at places all over what is moved, which are other ones for every
// sample. Only who has really moved them can have them on the other side. As in cl/transfer.cl.
// Pure.
#pragma once

#include <cstdint>
#include <span>

namespace clprobe::transfer {

/// Places and values of one sample's marks.
class Marks {
 public:
  static constexpr std::uint64_t max_count = 512;

  /// Of so many words, at least one.
  Marks(std::uint64_t words, std::uint32_t launch);

  [[nodiscard]] std::uint64_t words() const { return words_; }
  [[nodiscard]] std::uint32_t launch() const { return launch_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// The first mark is the first word, the last one the last.
  [[nodiscard]] std::uint64_t place(std::uint32_t mark) const;
  [[nodiscard]] std::uint32_t value(std::uint32_t mark) const;

  void write_to(std::span<std::uint32_t> words) const;
  /// What stands at the places, added up so that each place counts another number of times.
  [[nodiscard]] std::uint64_t sum_in(std::span<const std::uint32_t> words) const;
  [[nodiscard]] std::uint64_t expected_sum() const;

 private:
  std::uint64_t words_;
  std::uint32_t launch_;
  std::uint32_t count_;
};

/// A. Stafford's mix of 32 bits (Better Bit Mixing, 2011): words that nothing can compress.
std::uint32_t mixed(std::uint32_t bits);

/// The sum of all words, each as often as its place says. As in cl/transfer.cl.
std::uint64_t sum_of_words(std::span<const std::uint32_t> words);

/// The sum of values that stand at the places in order.
std::uint64_t sum_of_marks(std::span<const std::uint32_t> found);

}  // namespace clprobe::transfer
