// SPDX-License-Identifier: Apache-2.0
// Random numbers for made-up data. The standard's distributions differ between libraries; these
// give the same data everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <random>

namespace clprobe {

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  double uniform(double low, double high) {
    const double unit = static_cast<double>(generator_() >> 11U) * 0x1.0p-53;
    return low + unit * (high - low);
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  /// A whole number, both ends included.
  int whole_log_uniform(int low, int high) {
    return std::clamp(static_cast<int>(log_uniform(low, high + 1)), low, high);
  }
  bool chance(double probability) { return uniform(0.0, 1.0) < probability; }
  template <typename Choices>
  auto one_of(const Choices& choices) {
    return choices[static_cast<std::size_t>(uniform(0.0, static_cast<double>(std::size(choices))))];
  }
  double normal() {  // Box and Muller 1958
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(0.0, 1.0)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform(0.0, 1.0));
  }

 private:
  std::mt19937_64 generator_;
};

/// Normal by the sum of twelve uniforms, the same everywhere.
class NormalNoise {
 public:
  explicit NormalNoise(std::uint64_t seed) : generator_(seed) {}
  double next() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(generator_() >> 11U) * 0x1.0p-53;
    return sum;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace clprobe
