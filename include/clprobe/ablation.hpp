// SPDX-License-Identifier: Apache-2.0
// The parts of a kernel's time, from builds of it without causes of waiting.
//
// Each factor is a change that idealises one cause and keeps the instructions. All 2^k builds are
// timed; the Shapley value of a factor is what it takes away, averaged over all orders in which
// the factors can be taken away, so that the values add up to T(none) - T(all). Some factors can go
// only where another has: a load meets the second cache once it no longer meets main memory. Then
// the orders that keep to that count, and the sets that no such order meets need not be timed.
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

#include "clprobe/estimate.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {

/// 2^5 = 32 builds are what one kernel is worth.
inline constexpr std::size_t max_factors = 5;

/// A build of the kernel. Bit i of `idealised`: factor i has been taken away.
struct AblationBuild {
  std::uint32_t idealised{0};
  Visits visits_ns{};
};

struct AblationOptions {
  double confidence{0.95};
  int resamples{1000};
  std::uint64_t seed{1};
  /// Bit j of the i-th: factor i can be taken away only where factor j has been. Empty: no such
  /// order is needed.
  std::vector<std::uint32_t> needs{};
  /// Visits with the same index are of one round: what a round has in common, a slow clock, is no
  /// noise of differences. Needs the same number of visits of each build.
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
  Cost all{};   ///< T(all): what no factor accounts for, the unattributed remainder
  /// Shapley values by factor. Their sum is none.ns - all.ns.
  std::vector<Cost> factors{};
  /// Interaction costs of pairs, cost(ij) - cost(i) - cost(j) with the rest in place but for what
  /// the two need to be gone: above 0 the two overlap and only both together are worth it, below 0
  /// one does what the other does. Symmetric; 0 on the diagonal and where one needs the other.
  std::vector<std::vector<Cost>> interactions{};
};

/// The builds do not make a full set: "build 5 of 8 is missing", or has no samples.
class AblationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether factors can be taken away so that those of `set` are gone and no others.
bool is_reachable(std::uint32_t set, std::span<const std::uint32_t> needs);

/// `builds` in any order: each of the 2^factors sets that can be reached once, each with the
/// typical time of at least one sample; others are not looked at. Intervals and sigmas are those of
/// a percentile bootstrap over the visits of each build. Throws AblationError.
Ablation attribute_time(std::span<const AblationBuild> builds, std::size_t factors,
                        const AblationOptions& options = {});

/// Time saved from the first set of launches to the second. Equal numbers of visits count as
/// rounds.
Cost find_gain(const Visits& before_ns, const Visits& after_ns, AblationOptions options = {});

/// Shapley values of k = log2(size) factors, `times[set]` being the time without the factors of
/// `set`. The exact ones, by all sets that can be reached.
std::vector<double> shapley_values(std::span<const double> times,
                                   std::span<const std::uint32_t> needs = {});

}  // namespace clprobe
