// SPDX-License-Identifier: Apache-2.0
// The parts of a kernel's time, from builds of it without causes of waiting.
//
// Each factor is a change that idealises one cause and keeps the instructions. All 2^k builds are
// timed; the Shapley value of a factor is its saving, averaged over all orders in which the factors
// can be removed, so that the values add up to T(none) - T(all). Some factors can be removed only
// after another: a load accesses the second cache once it no longer accesses main memory. Then only
// orders that respect this count, and sets that no such order meets need not be timed.
// Sources: Shapley, A value for n-person games, 1953; Faigle, Kern, The Shapley value for
// cooperative games under precedence constraints, 1992; Fields, Bodik, Hill, Newburn, Using
// interaction costs for microarchitectural bottleneck analysis, MICRO 2003. Everything here is
// pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"

namespace clprobe {

/// 2^5 = 32 builds are what one kernel is worth.
inline constexpr std::size_t max_factors = 5;

/// A build of the kernel. Bit i of `idealised`: factor i is removed.
struct AblationBuild {
  std::uint32_t idealised{0};
  Visits visits_ns{};
};

struct AblationOptions {
  double confidence{0.95};
  int resamples{1000};
  std::uint64_t seed{1};
  /// Bit j of the i-th: factor i can be removed only after factor j. Empty: there is no such
  /// order.
  std::vector<std::uint32_t> needs{};
  /// Visits with the same index belong to one pass: what a pass has in common, such as a slow
  /// clock, is no noise of differences. Needs equal numbers of visits of all builds.
  bool are_rounds{false};
};

struct Cost {
  double ns{0.0};
  Interval interval{};
  double sigma_ns{0.0};     ///< of the bootstrap
  bool is_resolved{false};  ///< farther than two sigma from 0
};

struct Ablation {
  Cost none{};  ///< T(none): the kernel as it is
  Cost all{};   ///< T(all): the unattributed remainder, which no factor accounts for
  /// Shapley values by factor. Their sum is none.ns - all.ns.
  std::vector<Cost> factors{};
  /// Interaction costs of pairs, cost(ij) - cost(i) - cost(j), without the factors that the two
  /// need removed: above 0 the two overlap, and only removing both saves the time; below 0 removing
  /// one also removes a part of the other. Symmetric; 0 on the diagonal and if one needs the other.
  std::vector<std::vector<Cost>> interactions{};
};

/// The builds do not make a full set: "build 5 of 8 is missing", or has no samples.
class AblationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// True if exactly the factors of `set` can be removed.
bool is_reachable(std::uint32_t set, std::span<const std::uint32_t> needs);

/// Attributes the time of a kernel to its factors. `builds` in any order: each reachable one of the
/// 2^factors sets once, with at least one sample; others do not count. Intervals and sigmas come
/// from a percentile bootstrap over the visits of each build. Throws AblationError.
Ablation attribute_time(std::span<const AblationBuild> builds, std::size_t factors,
                        const AblationOptions& options = {});

/// The time saved from the first set of launches to the second. Equal numbers of visits count as
/// passes.
Cost find_gain(const Visits& before_ns, const Visits& after_ns, AblationOptions options = {});

/// The exact Shapley values of k = log2(size) factors, by all reachable sets. `times[set]`: the
/// time without the factors of `set`.
std::vector<double> shapley_values(std::span<const double> times,
                                   std::span<const std::uint32_t> needs = {});

}  // namespace clprobe
