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

/// A share of the kernel's time, or the reason why there is none: a part of the bar, or, without a
/// name, a cost of how groups fill the device.
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

/// The cause with its cost, as a share of `whole_ns`: found if it is resolved and above 0.
/// `if_negative` is the reason for a resolved cost below 0.
KernelCause with_cost(KernelCause cause, const Cost& cost, double whole_ns,
                      std::string_view if_negative = {});

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

/// So many copies run side by side.
inline constexpr std::uint64_t bare_copies = 8;

/// What is left of the kernel by itself, and the same with others beside it.
struct BareRuns {
  std::string refusal{};  ///< why there are none; without a full stop
  Visits alone_ns{};
  Visits copies_ns{};        ///< the time of `bare_copies` side by side, for each of them
  Visits beside_loads_ns{};  ///< what it takes while another kernel loads
  std::uint64_t groups{0};
  std::uint64_t resident_groups{0};  ///< at once, of the kernel as it is; 0: not known
  std::uint64_t units{1};
};

/// The last cause, with its part of what was unattributed, and advice that knows of it. Nothing
/// where the other causes are not believed.
void add_chains(const BareRuns& runs, KernelCauses& causes);

/// Launches of the whole kernel with local memory that nothing uses.
struct ResidentTime {
  std::uint64_t resident_groups{0};  ///< at once, on the device, as counted
  std::uint64_t padding_bytes{0};    ///< of local memory, for each group
  Visits visits_ns{};
};

/// What the kernel takes longer with fewer groups at once.
struct Occupancy {
  std::uint64_t resident_groups{0};  ///< as the kernel is
  std::uint64_t fewer_groups{0};     ///< that it was compared with; 0: there are none
  KernelCause fewer{};
};

/// `times` in any order; the one with the least padding is the kernel as it is. Compared are the
/// most groups that are at most half as many, else the fewest there are. Nothing for no times.
std::optional<Occupancy> find_occupancy(std::span<const ResidentTime> times);

/// What the kernel gains if all of its groups took as long as those of its whole waves do.
struct Tail {
  std::uint64_t whole_waves{0};
  std::uint64_t rest_groups{0};  ///< in the last wave
  KernelCause last_wave{};
};

/// A launch of this many whole waves says nothing about its last one, which is a part of the time
/// that noise hides.
inline constexpr std::uint64_t max_waves = 64;

/// How many groups the launch of whole waves has; 0 where none is worth a launch.
std::uint64_t groups_of_whole_waves(std::uint64_t groups, std::uint64_t resident_groups);

/// `whole_ns`: launches of `groups_of_whole_waves`. Nothing where no group was counted.
std::optional<Tail> find_tail(std::uint64_t groups, std::uint64_t resident_groups,
                              const Visits& all_ns, const Visits& whole_ns);

/// What the kernel takes whatever its groups do.
struct Starting {
  KernelCause launch{};  ///< of which one group ends at once
  KernelCause groups{};  ///< starting and ending all of them, beyond that
};

/// `one_ns`, `all_ns`: launches of one group and of all, which end at once. Nothing where there are
/// none; with `all_ns` empty the kernel has one group alone.
std::optional<Starting> find_starting(const Visits& kernel_ns, const Visits& one_ns,
                                      const Visits& all_ns);

struct KernelOccupancy {
  std::uint64_t groups{0};  ///< of the launch
  double ratio{1.0};        ///< of the kernel with an entry to the kernel as it is
  std::string doubt{};      ///< why nothing else is believed; one line, without a full stop
  std::optional<Occupancy> occupancy{};
  std::optional<Tail> tail{};
  std::optional<Starting> starting{};
  std::optional<double> app_share{};  ///< of the program's device time
};

/// One sentence on the causes and how to remove the first; if they are not believed, why.
std::string kernel_advice(const KernelCauses& causes);
/// One sentence on the largest of all that was found.
std::string kernel_advice(const KernelCauses& causes, const KernelOccupancy& places);

}  // namespace clprobe
