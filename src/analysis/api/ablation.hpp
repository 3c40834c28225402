// SPDX-License-Identifier: Apache-2.0
// The parts of a kernel's time, measured by builds without causes of waiting.
//
// Each factor is a change that removes one cause and keeps the instructions. All 2^k builds are
// timed. The Shapley value of a factor is its saving, averaged over all orders of removing the
// factors, so that the values add up to T(none) - T(all). Some factors can only be removed after
// another: a load accesses the second cache once it no longer accesses main memory. Then only
// orders that respect this count, and sets that occur in no such order need no build. Pure.
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

/// A build of the kernel. Bit i of `idealised`: factor i is removed.
struct AblationBuild {
  std::uint32_t idealised{0};
  Visits visits_ns{};
};

struct AblationOptions {
  int resamples{1000};
  std::uint64_t seed{1};
  /// Bit j of the i-th entry: factor i can be removed only after factor j. Empty: any order.
  std::vector<std::uint32_t> needs{};
  /// True if visits with the same index belong to one pass. Effects common to a pass, such as a
  /// slow clock, then add no noise to differences. Requires equal numbers of visits of all builds.
  bool are_rounds{false};
};

struct Cost {
  double ns{0.0};
  Interval interval{};
  double sigma_ns{0.0};     ///< standard deviation by bootstrap
  bool is_resolved{false};  ///< true if the value is farther than two sigma from 0
};

struct Ablation {
  Cost none{};  ///< T(none): the unmodified kernel
  Cost all{};   ///< T(all): the unattributed remainder, which no factor accounts for
  /// Shapley values by factor. Their sum is none.ns - all.ns.
  std::vector<Cost> factors{};
  /// Interaction costs of pairs, cost(ij) - cost(i) - cost(j), with the factors that both require
  /// removed. Above 0: the costs overlap, and only removing both saves the time. Below 0: removing
  /// one also removes a part of the other. Symmetric; 0 on the diagonal and if one factor requires
  /// the other.
  std::vector<std::vector<Cost>> interactions{};
};

/// Error of an incomplete set of builds: "build 5 of 8 is missing", or has no samples.
class AblationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns true if some order removes exactly the factors of `set`.
bool is_reachable(std::uint32_t set, std::span<const std::uint32_t> needs);

/// Attributes the time of a kernel to its factors. `builds` in any order contain each reachable one
/// of the 2^factors sets once, with at least one sample; other sets are ignored. Intervals and
/// sigmas come from a percentile bootstrap over the visits of each build. Throws AblationError.
Ablation attribute_time(std::span<const AblationBuild> builds, std::size_t factors,
                        const AblationOptions& options = {});

/// Returns the time saved from the first set of launches to the second. Equal numbers of visits are
/// treated as passes.
Cost find_gain(const Visits& before_ns, const Visits& after_ns, AblationOptions options = {});

/// Returns the exact Shapley values of k = log2(size) factors, over all reachable sets.
/// `times[set]` is the time without the factors of `set`.
std::vector<double> shapley_values(std::span<const double> times,
                                   std::span<const std::uint32_t> needs = {});

}  // namespace clprobe
