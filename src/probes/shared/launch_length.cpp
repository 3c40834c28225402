// SPDX-License-Identifier: Apache-2.0
#include "probes/shared/launch_length.hpp"

#include <algorithm>
#include <cmath>

namespace clprobe {
namespace {

/// What a launch takes: the least of two that agree, or of three. One that is shorter than
/// `long_enough_ns` is so whatever others take.
double ns_of_launch(const std::function<double()>& launch, double long_enough_ns) {
  constexpr int max_launches = 3;
  constexpr double max_difference = 1.25;
  double min_ns = std::max(1.0, launch());
  bool agree = false;
  for (int i = 1; i < max_launches && !agree && min_ns >= long_enough_ns; ++i) {
    const double ns = std::max(1.0, launch());
    agree = std::max(ns, min_ns) <= max_difference * std::min(ns, min_ns);
    min_ns = std::min(ns, min_ns);
  }
  return min_ns;
}

}  // namespace

std::uint64_t iterations_for(double wanted_ns, std::uint64_t most,
                             const std::function<double(std::uint64_t)>& ns_of) {
  constexpr std::uint64_t max_growth = 64;
  const double long_enough_ns = wanted_ns / 4.0;
  for (std::uint64_t iterations = 1;;) {
    const double ns = ns_of_launch([&] { return ns_of(iterations); }, long_enough_ns);
    const bool is_known = ns >= long_enough_ns || iterations >= most;
    // Two launches of half that length take as long as one sample.
    const double next_ns = is_known ? wanted_ns : wanted_ns / 2.0;
    const double next = std::ceil(static_cast<double>(iterations) * next_ns / ns);
    const std::uint64_t bound = std::min(most, iterations * max_growth);
    iterations = static_cast<std::uint64_t>(std::clamp(next, 1.0, static_cast<double>(bound)));
    if (is_known) return iterations;
  }
}

}  // namespace clprobe
