// SPDX-License-Identifier: Apache-2.0
// The results of chains, as the host computes them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "probes/compute/compute.hpp"
#include "probes/shared/permutation.hpp"

namespace clprobe::compute {
namespace {

std::uint32_t word_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint32_t word_of(std::uint32_t value) { return value; }
std::uint32_t word_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return static_cast<std::uint32_t>(bits ^ bits >> 32U);
}

std::uint32_t dot_of_bytes(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (std::uint32_t shift = 0; shift < 32; shift += 8) {
    sum += (a >> shift & 0xffU) * (b >> shift & 0xffU);
  }
  return sum;
}

/// Runs the chains of all starts. `odd` and `even` return the value after a step.
template <typename Value, typename Odd, typename Even>
std::array<std::uint32_t, chain_starts> run(const Operation& operation, std::uint64_t steps,
                                            const Odd& odd, const Even& even) {
  std::array<Value, chain_starts> values{};
  for (std::size_t i = 0; i < chain_starts; ++i) {
    values.at(i) = static_cast<Value>(operation.start) +
                   static_cast<Value>(i) * static_cast<Value>(operation.spread);
  }
  const auto a = static_cast<Value>(operation.first);
  const auto b = static_cast<Value>(operation.second);
  for (std::uint64_t step = 0; step < steps; step += 2) {
    for (Value& value : values) value = even(odd(value, a, b), a, b);
  }
  std::array<std::uint32_t, chain_starts> words{};
  std::transform(values.begin(), values.end(), words.begin(),
                 [](Value value) { return word_of(value); });
  return words;
}

template <typename Value, typename Step>
std::array<std::uint32_t, chain_starts> run(const Operation& operation, std::uint64_t steps,
                                            const Step& step) {
  return run<Value>(operation, steps, step, step);
}

}  // namespace

const Operation& operation_of(std::string_view series) {
  const auto* const found =
      std::find_if(all_operations.begin(), all_operations.end(),
                   [&](const Operation& each) { return each.name == series; });
  if (found == all_operations.end()) throw std::out_of_range("no series " + std::string(series));
  return *found;
}

std::array<std::uint32_t, chain_starts> results_after(const Operation& operation,
                                                      std::uint64_t steps) {
  using Word = std::uint32_t;
  if (!operation.is_exact) {
    std::array<Word, chain_starts> right{};
    right.fill(1);
    return right;
  }
  const std::string_view name = operation.name;
  const auto fused = [](auto x, auto a, auto b) { return std::fma(x, a, b); };
  if (name == "fma") return run<float>(operation, steps, fused);
  if (name == "double-fma") return run<double>(operation, steps, fused);
  if (name == "add") {
    return run<float>(
        operation, steps, [](float x, float a, float) { return x + a; },
        [](float x, float, float b) { return x + b; });
  }
  if (name == "mul") {
    return run<float>(
        operation, steps, [](float x, float a, float) { return x * a; },
        [](float x, float, float b) { return x * b; });
  }
  if (name == matrix_product) {
    return run<float>(
        operation, steps, [](float x, float, float) { return x + 16.0F; },
        [](float x, float, float) { return x - 12.0F; });
  }
  if (name == "int-add" || name == group_barrier) {
    return run<Word>(
        operation, steps, [](Word x, Word a, Word) { return x + a; },
        [](Word x, Word, Word b) { return x & b; });
  }
  if (name == "dot-product") {
    return run<Word>(operation, steps,
                     [](Word x, Word a, Word b) { return dot_of_bytes(x, a) + b; });
  }
  return run<Word>(operation, steps, [](Word x, Word a, Word b) { return x * a + b; });
}

std::uint64_t expected_witness(const std::array<std::uint32_t, chain_starts>& results,
                               const Shape& shape, const LaunchSize& size) {
  std::array<std::uint32_t, chain_starts / 2> of_item{};
  for (std::size_t item = 0; item < of_item.size(); ++item) {
    std::uint32_t sum = 0;
    for (std::size_t chain = 0; chain < static_cast<std::size_t>(shape.chains); ++chain) {
      sum += results.at(item + chain % 2 * of_item.size());
    }
    of_item.at(item) = mixed(sum * static_cast<std::uint32_t>(shape.width));
  }
  std::uint64_t all = 0;
  for (std::uint64_t begin = 0; begin < size.items; begin += size.group) {
    std::uint32_t of_group = 0;
    for (std::uint64_t item = begin; item < begin + size.group; ++item) {
      of_group += of_item.at(item % of_item.size());
    }
    all += of_group;
  }
  return all;
}

}  // namespace clprobe::compute
