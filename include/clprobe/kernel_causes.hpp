// SPDX-License-Identifier: Apache-2.0
// Where the time of somebody's kernel goes, from launches in which few groups do the work of all,
// and from launches without barriers or atomicity, fences or special functions. Pure.
//
// Time against the number of distinct groups is a working-set curve of the kernel itself: as groups
// share what they touch, main memory goes first, then the last cache. What is taken away together
// with other factors has the Shapley value of all settings (clprobe/ablation.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/ablation.hpp"

namespace clprobe {

/// Launches in which so many different groups did the work of all.
struct FoldedTime {
  std::uint64_t distinct_groups{0};
  Visits visits_ns{};
};

struct FoldingOptions {
  double buffer_bytes{0.0};                  ///< of all buffers of the launch; 0: not known
  std::optional<double> last_cache_bytes{};  ///< measured or reported
  /// With fewer the device is not full of different work: on CPUs, threads write each other's
  /// lines.
  std::uint64_t min_groups{1};
};

/// What the curve shows.
struct Folding {
  std::uint64_t all_groups{0};
  std::uint64_t fastest_groups{0};  ///< where the least time lies
  /// The most groups whose part of the buffers fills at most half of the last cache, or fewer where
  /// these clearly take less: they reach more than their part. And where the least time lies with
  /// at least as many. Nothing where sizes are not known, or none does.
  std::optional<std::uint64_t> cached_groups{};
  std::uint64_t fastest_cached_groups{0};
  /// From this number of groups down the kernel takes longer than its least, by more than noise and
  /// 5 %: groups write the same lines. 0: it does not.
  std::uint64_t collide_from{0};
};

/// Points in any order, the one with most groups being the kernel as it is. Nothing where fewer
/// than two have samples.
std::optional<Folding> find_folding(std::span<const FoldedTime> sweep,
                                    const FoldingOptions& options = {});

/// What can be taken away by a setting, in the order of the bits of AblationBuild::idealised.
/// Lanes can go only where memory has: a sub-group that does what one lane does touches less, too.
enum class KernelFactor : std::uint8_t { memory, barriers, atomics, lanes, fences, functions };

/// Why a factor was not taken away; none: it was.
enum class FactorAbsence : std::uint8_t { none, not_present, refused };

struct KernelFactorState {
  KernelFactor factor{KernelFactor::memory};
  FactorAbsence absence{FactorAbsence::none};
  std::string reason{};
};

/// Those that were, in the order of the bits of the builds.
std::vector<KernelFactor> taken_away(std::span<const KernelFactorState> factors);

/// Of each of these factors those that have to be gone before it (AblationOptions::needs).
std::vector<std::uint32_t> needs_of(std::span<const KernelFactor> factors);

struct KernelTimes {
  Visits plain_ns{};     ///< without the prelude
  Visits identity_ns{};  ///< behind it, nothing renamed and nothing left out
  /// Logarithms of the ratios of these two in blocks of turns, A B B A; may be empty.
  std::vector<double> turn_log_ratios{};
  std::vector<FoldedTime> sweep{};
  /// The folding that was chosen, done by other groups: their times side by side.
  std::vector<Visits> windows_ns{};
  /// All factors, each once. Of those that were taken away, in this order, come the bits of the
  /// builds; the builds without memory are folded to `Folding::fastest_groups`.
  std::vector<KernelFactorState> factors{};
  std::vector<AblationBuild> builds{};
  std::optional<double> app_share{};  ///< of the program's device time
};

enum class CauseState : std::uint8_t { found, not_resolved, not_present, refused };

/// A row of the stack.
struct KernelCause {
  std::string_view name{};   ///< "main_memory"
  std::string_view title{};  ///< "main memory"
  std::string_view gsi{};    ///< "memory data: main memory": the category of GSI
  CauseState state{CauseState::not_resolved};
  Cost cost{};        ///< what the kernel gains without it, at most
  double share{0.0};  ///< of the kernel's time
  Interval share_interval{};
  bool is_lower_bound{false};  ///< something else became slower by taking it away
  std::string reason{};        ///< why there is no value, or why it is a bound; without a full stop
  std::optional<double> app_share{};  ///< of the program's device time
};

/// What two factors save together beyond what each saves alone; memory is whole here.
struct KernelInteraction {
  std::string_view first{};   ///< by their categories of GSI
  std::string_view second{};  ///< "synchronization: barrier"
  double share{0.0};          ///< of the kernel's time; may be less than nothing
  Interval share_interval{};
  bool is_resolved{false};
};

/// What the folding that was chosen takes longer by the choice of the groups that do all work: the
/// longest choice over the shortest, less 1.
struct WindowSpread {
  std::size_t windows{0};
  double share{0.0};
  Interval share_interval{};
  bool is_resolved{false};
};

/// What of the kernel's time, with all causes gone, still waits for loads and stores that caches or
/// local memory serve. No part of the stack: nothing takes it away.
struct NearWaits {
  double share{0.0};
  Interval share_interval{};
  std::string reason{};  ///< why it may be more; without a full stop
};

struct KernelCauses {
  bool is_believed{false};
  std::string doubt{};           ///< why not; one line, without a full stop
  double instrument_ratio{1.0};  ///< identity to plain
  Interval instrument_interval{1.0, 1.0};
  std::optional<WindowSpread> window_spread{};
  Cost total{};         ///< the kernel behind the prelude
  Cost unattributed{};  ///< what is left with all factors taken away
  double unattributed_share{1.0};
  std::optional<Folding> folding{};
  std::vector<KernelCause> causes{};              ///< in a fixed order, the refused ones as well
  std::vector<KernelInteraction> interactions{};  ///< pairs of which neither needs the other
  std::optional<NearWaits> near_waits{};
  std::string advice{};  ///< one sentence; where nothing is believed, why
};

/// A build of the prelude that costs more than this, or gains it, is another kernel. It is believed
/// where the interval of the ratio leaves that open.
inline constexpr double max_instrument_ratio = 1.10;
/// Where the ends of the interval are farther apart than this nothing is known of it.
inline constexpr double max_instrument_span = 1.5;
/// What the ratio's finding says where its interval reaches beyond what is believed; else empty.
std::string instrument_reason(const Interval& ratio);

/// Throws AblationError where builds are missing.
KernelCauses find_kernel_causes(const KernelTimes& times, const FoldingOptions& folding = {},
                                const AblationOptions& options = {});

/// The one sentence where nothing is believed: `doubt` says why, without a full stop. Empty where
/// that is.
std::string doubt_advice(std::string_view doubt);

/// The causes that were found, the largest first.
std::vector<KernelCause> ranked_causes(const KernelCauses& causes);

}  // namespace clprobe
