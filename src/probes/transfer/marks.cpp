// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/marks.hpp"

#include <algorithm>

namespace clprobe::transfer {
namespace {

std::uint64_t weighted(std::uint32_t mark, std::uint32_t value) {
  return std::uint64_t{value} * (2 * std::uint64_t{mark} + 1);
}

}  // namespace

std::uint32_t mixed(std::uint32_t bits) {
  bits = (bits ^ (bits >> 16U)) * 0x7feb352dU;
  bits = (bits ^ (bits >> 15U)) * 0x846ca68bU;
  return bits ^ (bits >> 16U);
}

Marks::Marks(std::uint64_t words, std::uint32_t launch)
    : words_(words),
      launch_(launch),
      count_(static_cast<std::uint32_t>(std::min<std::uint64_t>(words, max_count))) {}

std::uint32_t Marks::value(std::uint32_t mark) const {
  return mixed(launch_ * static_cast<std::uint32_t>(max_count) + mark);
}

std::uint64_t Marks::place(std::uint32_t mark) const {
  if (mark == 0) return 0;
  if (mark + 1 == count_) return words_ - 1;
  const std::uint64_t each = words_ / count_;
  return mark * each + value(mark) % each;
}

void Marks::write_to(std::span<std::uint32_t> words) const {
  for (std::uint32_t mark = 0; mark < count_; ++mark) words[place(mark)] = value(mark);
}

std::uint64_t Marks::sum_in(std::span<const std::uint32_t> words) const {
  std::uint64_t sum = 0;
  for (std::uint32_t mark = 0; mark < count_; ++mark) sum += weighted(mark, words[place(mark)]);
  return sum;
}

std::uint64_t Marks::expected_sum() const {
  std::uint64_t sum = 0;
  for (std::uint32_t mark = 0; mark < count_; ++mark) sum += weighted(mark, value(mark));
  return sum;
}

std::uint64_t sum_of_words(std::span<const std::uint32_t> words) {
  std::uint64_t sum = 0;
  for (std::uint64_t w = 0; w < words.size(); ++w) sum += words[w] * (2 * w + 1);
  return sum;
}

std::uint64_t sum_of_marks(std::span<const std::uint32_t> found) {
  std::uint64_t sum = 0;
  for (std::uint32_t mark = 0; mark < found.size(); ++mark) sum += weighted(mark, found[mark]);
  return sum;
}

}  // namespace clprobe::transfer
