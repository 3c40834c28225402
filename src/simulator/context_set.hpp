// SPDX-License-Identifier: Apache-2.0
// Which of a compute unit's warp contexts something holds for, a bit each: to pass over the others
// takes no time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clprobe::simulator {

class ContextSet {
 public:
  explicit ContextSet(std::size_t contexts) : words_((contexts + word_bits - 1) / word_bits) {}

  void insert(std::uint32_t context) { words_[context / word_bits] |= bit_of(context); }
  void erase(std::uint32_t context) { words_[context / word_bits] &= ~bit_of(context); }

  /// Calls `act(context)` for each.
  template <typename Act>
  void for_each(Act act) const {
    for (std::size_t index = 0; index < words_.size(); ++index) {
      for (Word left = words_[index]; left != 0; left &= left - 1) {
        act(index * word_bits + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
  }

 private:
  using Word = std::uint64_t;
  static constexpr std::size_t word_bits = 64;

  [[nodiscard]] static Word bit_of(std::uint32_t context) {
    return Word{1} << (context % word_bits);
  }

  std::vector<Word> words_;
};

}  // namespace clprobe::simulator
