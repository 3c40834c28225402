// SPDX-License-Identifier: Apache-2.0
// A Thread-Latency curve made ready for the search for jumps: flat where it is regular. A piece of
// find_spike (spikes.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "clprobe/outstanding.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {

/// Less than this share of a latency is what caches, banks and schedulers do.
inline constexpr double min_jump = 0.15;
/// Cycles; a counter of whole cycles is not better than this.
inline constexpr double clock_sigma = 0.5;

/// What may be regular about the difference of two neighbouring points.
enum class GapKind { fresh, merged, sub_group, group };

struct Sweep {
  const ThreadLatencyCurve* curve{nullptr};
  int sub_group{1};
  std::vector<int> n{};
  std::vector<double> y{};         ///< robust, less overhead and single outliers
  std::vector<double> requests{};  ///< unique
  std::vector<double> z{};         ///< y less what is regular: flat but for jumps
  double noise{0.0};               ///< standard deviation of y, as a share of it
  std::vector<double> noise_at{};  ///< the same around each point, and not less
  double latency{0.0};
  double first_slope{0.0};  ///< cycles per request within the first sub-group

  [[nodiscard]] const LoadPattern& pattern() const { return curve->pattern; }
  [[nodiscard]] double sigma(std::size_t i) const {
    return std::max(clock_sigma, noise_at[i] * y[i]);
  }
  [[nodiscard]] double threshold() const { return min_jump * latency; }
};

/// Of the difference between point `i` and the next.
GapKind kind_of(const Sweep& sweep, std::size_t i);

struct Slope {
  double cycles{0.0};
  Interval interval{};
};

/// Cycles per request from point `first` to point `last`: nothing is faster than at once.
Slope slope_between(const Sweep& sweep, std::size_t first, std::size_t last);

/// The first of the numbers that is more than `items`.
std::size_t first_beyond(std::span<const int> n, int items);

/// Nothing with fewer than 8 usable points. Refers to `curve`.
std::optional<Sweep> sweep_of(const ThreadLatencyCurve& curve, const ThreadLatencyPlot& plot,
                              int sub_group);

}  // namespace clprobe
