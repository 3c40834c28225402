// SPDX-License-Identifier: Apache-2.0
// The shares of a kernel's time by cause, measured with builds that lack some of the causes.
//
// A factor is a cause of time, such as memory or barriers, that a build of the kernel can lack. All
// 2^k combinations of k factors are built and timed. The Shapley value of a factor is the time that
// its removal saves, averaged over all orders of removing the factors. The values add up to T(none)
// - T(all).
//
// Some factors can only be removed after another factor. For example, loads access the second cache
// only once they no longer access main memory. Only orders that respect this rule count, and sets
// of factors that occur in no such order need no build. All functions are pure.
//
// Sources: Shapley, A value for n-person games, 1953; Faigle, Kern, The Shapley value for
// cooperative games under precedence constraints, 1992; Fields, Bodik, Hill, Newburn, Using
// interaction costs for microarchitectural bottleneck analysis, MICRO 2003.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"

namespace clprobe {

/// Maximum number of factors: 2^5 = 32 builds per kernel.
inline constexpr std::size_t max_factors = 5;

/// A build of the kernel. Bit i of `idealised` is set if factor i is removed.
struct AblationBuild {
  std::uint32_t idealised{0};
  Visits visits_ns{};
};

struct AblationOptions {
  int resamples{1000};
  std::uint64_t seed{1};
  /// Bit j of element i is set if factor i can be removed only after factor j. Empty: any order.
  std::vector<std::uint32_t> needs{};
  /// True if visits with the same index belong to one pass over all builds. Effects that a whole
  /// pass shares, such as a slow clock, then cancel in differences. Requires the same number of
  /// visits for every build.
  bool are_rounds{false};
};

struct Cost {
  double ns{0.0};
  Interval interval{};
  double sigma_ns{0.0};     ///< standard deviation by bootstrap
  bool is_resolved{false};  ///< true if the interval does not include 0
};

struct Ablation {
  Cost none{};  ///< T(none): the unmodified kernel
  Cost all{};   ///< T(all): the kernel with all factors removed, a time that no factor explains
  /// Shapley value of each factor. The sum of all values is none.ns - all.ns.
  std::vector<Cost> factors{};
  /// Interaction cost of each pair of factors, cost(ij) - cost(i) - cost(j), between builds that
  /// lack the factors that i or j require. Above 0: the costs overlap, and only removing i and j
  /// together saves the time. Below 0: removing one factor also removes a part of the other
  /// factor's cost. Symmetric; 0 on the diagonal and for pairs in which one factor requires the
  /// other.
  std::vector<std::vector<Cost>> interactions{};
};

/// Error of an unusable set of builds: "kernel version 5 of 8 is missing", "kernel version 5 of 8 appears twice".
class AblationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns true if some order removes exactly the factors of `set`.
bool is_reachable(std::uint32_t set, std::span<const std::uint32_t> needs);

/// Attributes the time of a kernel to its factors. `builds` contains each reachable subset of the
/// factors once, in any order, with at least one sample. Unreachable subsets are ignored. Intervals
/// and sigmas come from a percentile bootstrap over the visits of each build. Throws AblationError.
Ablation attribute_time(std::span<const AblationBuild> builds, std::size_t factors,
                        const AblationOptions& options = {});

/// Returns the time that `after_ns` saves compared with `before_ns`. Visits with the same index
/// count as one pass if both have the same number of visits; `options.are_rounds` is ignored.
Cost find_gain(const Visits& before_ns, const Visits& after_ns, AblationOptions options = {});

/// Returns the exact Shapley values of k = log2(times.size()) factors, over all reachable sets.
/// `times[set]` is the time with the factors of `set` removed.
std::vector<double> shapley_values(std::span<const double> times,
                                   std::span<const std::uint32_t> needs = {});

}  // namespace clprobe
