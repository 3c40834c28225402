// SPDX-License-Identifier: Apache-2.0
#include "clprobe/visits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "clprobe/statistics.hpp"

namespace clprobe {
namespace {

std::vector<double> faster_half(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  times.resize((times.size() + 1) / 2);
  return times;
}

/// As many of `all` as there are, some again and others not.
template <typename T>
std::vector<T> draw(const std::vector<T>& all, std::mt19937_64& generator) {
  std::vector<T> drawn;
  drawn.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    drawn.push_back(all[static_cast<std::size_t>(generator() % all.size())]);
  }
  return drawn;
}

}  // namespace

double typical_ns(const Visits& visits) {
  std::vector<double> times;
  for (const std::vector<double>& visit : visits) {
    times.insert(times.end(), visit.begin(), visit.end());
  }
  return median(faster_half(std::move(times)));
}

double resampled_ns(const Visits& visits, double typical, std::mt19937_64& generator) {
  if (visits.size() == 1) return median(draw(faster_half(visits.front()), generator));
  const auto count = static_cast<double>(visits.size());
  const double off = typical_ns(draw(visits, generator)) - typical;
  return typical + off * std::sqrt(count / (count - 1.0));
}

}  // namespace clprobe
