// SPDX-License-Identifier: Apache-2.0
// Where a kernel's time goes, from builds of it in which causes of waiting have been taken away.
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

/// Time against an amount of noise: extra work per iteration that nothing depends on.
struct NoisePoint {
  double injected{0.0};
  Visits visits_ns{};
};

/// How much of one kind of noise a kernel takes in before it becomes slower: a line that is flat
/// up to `absorbed` and rises by `slope_ns` behind it.
struct Absorption {
  bool is_found{false};  ///< false: no more than `absorbed` was injected, and all of it absorbed
  double absorbed{0.0};
  Interval interval{};
  double slope_ns{0.0};  ///< per unit of noise, where it shows
  /// What the rising line, drawn back to no noise, lacks of the time without noise: the share of
  /// the time in which what the noise needs is free. At most 1 but for noise; with nothing found, a
  /// lower bound of 1 is not known and it is 1.
  double share{1.0};
  Interval share_interval{1.0, 1.0};
  /// Whether little absorbed means that what the noise needs is in use all of the time: the kernel
  /// became at least twice as long, since up to all of its time can hide noise; and each amount
  /// cost about as much for what there is of it, which a delay of the noise's own does not.
  bool is_decisive{true};
};

/// A resource that absorbs less than this share of the time, by the interval of the share, is in
/// use all of the time, if the noise is decisive.
inline constexpr double saturated_share = 0.1;

/// Fits the hinge by least squares over typical times, bends on a grid between the points. Needs
/// three different amounts, 0 among them. Throws AblationError.
Absorption find_absorption(std::span<const NoisePoint> points, const AblationOptions& options = {});

/// What a factor or a kind of noise loads. `waiting`: a delay that keeps nothing busy, such as a
/// barrier, a chain or a divergent branch.
enum class Resource : std::uint8_t { waiting, arithmetic, local_memory, cache, memory };

struct NoiseKind {
  Resource resource{Resource::arithmetic};
  Absorption absorption{};
};

enum class NoiseVerdict : std::uint8_t {
  agree,         ///< nothing in one view speaks against the other
  inconclusive,  ///< they name different resources as the tightest
  untested,      ///< nothing is resolved, or there is no noise to compare with
};

struct Agreement {
  NoiseVerdict verdict{NoiseVerdict::untested};
  std::string reason{};  ///< one line, without a full stop
};

/// Compares the first factor with what absorbs least. A resource that absorbs next to nothing (the
/// interval of its share ends below a tenth, decisively) is in use all of the time, and then the
/// first factor has to be one of that resource, or of one that is not clearly less tight
/// (overlapping intervals). Where no resource is in use all of the time the kernel waits for
/// latencies, all kinds of noise fit into the gaps, and noise says nothing against any factor.
/// `resources[i]` is that of factor i.
Agreement compare_with_noise(const Ablation& ablation, std::span<const Resource> resources,
                             std::span<const NoiseKind> noise);

}  // namespace clprobe
