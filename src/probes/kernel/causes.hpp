// SPDX-License-Identifier: Apache-2.0
// Attribution of a kernel's time to causes, from launches that each lack some causes. Pure.
//
// The working-set reduction lets few distinct groups do the work of all groups. The kernel's time
// over the number of distinct groups is a working-set curve. With fewer distinct groups, accesses
// to main memory disappear first, and accesses to the last cache next. The cost of a cause is its
// Shapley value over all sets of causes (analysis/api/ablation.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/ablation.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::kernel {

struct CauseRow {
  std::string_view name{};    ///< name of the finding: "main_memory"
  std::string_view title{};   ///< name in sentences: "main memory"
  std::string_view gsi{};     ///< category of GSI: "memory data: main memory"
  std::string_view advice{};  ///< change of the code that avoids the cause
};

/// Removable causes, in the order of the bits of AblationBuild::idealised. Lanes are removed only
/// together with memory, because a sub-group that does the work of one lane accesses less data.
enum class Factor : std::uint8_t { memory, barriers, atomics, lanes, fences, functions };

struct FactorRow {
  CauseRow cause{};
  /// Setting that removes the cause. Null for memory, which the working-set reduction removes.
  bool prelude::Setting::*without{nullptr};
  prelude::Verdict prelude::Judgement::*verdict{nullptr};
  bool is_wait{false};  ///< concurrent copies of the kernel hide waits for this cause
};

inline constexpr std::array factor_rows{
    FactorRow{{"memory", "memory", "memory data",
               "load and store less, or let resident groups share data (tiles)"},
              nullptr,
              &prelude::Judgement::folding,
              true},
    FactorRow{
        {"barriers", "barriers", "synchronization: barrier",
         "do more work between two barriers, or use groups of one sub-group without barriers"},
        &prelude::Setting::without_barriers,
        &prelude::Judgement::barriers,
        true},
    FactorRow{{"atomics", "atomics", "memory structural: serial requests",
               "accumulate in local or private memory first, then add once per group"},
              &prelude::Setting::without_atomics,
              &prelude::Judgement::atomics,
              false},
    FactorRow{{"lanes", "differences between lanes", "memory structural: lanes",
               "let neighbouring work-items access neighbouring words and take the same branches, "
               "and pad rows of local arrays by one word"},
              &prelude::Setting::without_lanes,
              &prelude::Judgement::lanes,
              false},
    FactorRow{{"fences", "fences", "memory structural: pending release",
               "fence once after all stores of a work-item, or rely on the end of the kernel"},
              &prelude::Setting::without_fences,
              &prelude::Judgement::fences,
              true},
    FactorRow{{"functions", "special functions", "compute structural",
               "use native_ functions, call them outside loops, or look values up in a table"},
              &prelude::Setting::without_functions,
              &prelude::Judgement::functions,
              true}};
inline constexpr std::size_t factor_count = factor_rows.size();

constexpr const FactorRow& row_of(Factor factor) {
  return factor_rows.at(static_cast<std::size_t>(factor));
}
constexpr Factor factor_at(std::size_t index) { return static_cast<Factor>(index); }

using FactorVerdicts = std::array<prelude::Verdict, factor_count>;

/// Returns the factors that can be removed, in the order of the bits of builds.
std::vector<Factor> removable(const FactorVerdicts& verdicts);

/// Returns for each factor the bits of the factors that must be removed before it
/// (AblationOptions::needs).
std::vector<std::uint32_t> needs_of(std::span<const Factor> factors);

/// Times of launches in which `distinct_groups` groups did the work of all groups.
struct FoldedTime {
  std::uint64_t distinct_groups{0};
  Visits visits_ns{};
};

struct FoldingOptions {
  double buffer_bytes{0.0};                  ///< size of all buffers of the launch; 0: unknown
  std::optional<double> last_cache_bytes{};  ///< size of the last cache, measured or reported
  /// Minimum number of distinct groups that is compared. With fewer, the threads of a CPU write to
  /// each other's lines.
  std::uint64_t min_groups{1};
};

/// Numbers of distinct groups that the working-set curve shows.
struct Folding {
  std::uint64_t all_groups{0};
  std::uint64_t fastest_groups{0};  ///< number with the minimum time
  /// Maximum number of groups whose part of the buffers fills at most half of the last cache, or a
  /// smaller number that takes clearly less time. Nothing if sizes are unknown or no number fits.
  std::optional<std::uint64_t> cached_groups{};
  /// Number with the minimum time, from `cached_groups` up.
  std::uint64_t fastest_cached_groups{0};
  /// Largest number at which groups write the same lines: from this number down, the kernel takes
  /// longer than its minimum by more than noise and 5 %. 0: none.
  std::uint64_t collide_from{0};
};

/// Analyses the working-set curve. Points may have any order; the point with most groups is the
/// kernel without reduction. Returns nothing for fewer than two points with samples.
std::optional<Folding> find_folding(std::span<const FoldedTime> sweep,
                                    const FoldingOptions& options = {});

inline constexpr std::uint64_t copy_count = 8;

/// Times of the kernel with all causes removed: by itself, next to copies, and next to a kernel
/// that loads.
struct ConcurrentRuns {
  std::string refusal{};  ///< reason for missing launches; without a full stop
  Visits alone_ns{};
  Visits copies_ns{};         ///< time of `copy_count` concurrent copies, divided by their number
  Visits next_to_loads_ns{};  ///< the kernel's time while another kernel loads
  std::uint64_t groups{0};
  std::uint64_t resident_groups{0};  ///< resident groups of the unchanged kernel; 0: unknown
  std::uint64_t units{1};
};

struct KernelTimes {
  Visits plain_ns{};     ///< time without instrumentation
  Visits identity_ns{};  ///< time with instrumentation that removes nothing
  /// Logarithms of instrumented time / plain time, from blocks of alternating launches; may be
  /// empty.
  std::vector<double> log_ratios{};
  std::vector<FoldedTime> sweep{};
  FoldingOptions folding{};
  FactorVerdicts verdicts{};
  /// Builds, whose bits are the removable factors. Builds without memory run
  /// `Folding::fastest_groups` distinct groups.
  std::vector<AblationBuild> builds{};
  std::optional<ConcurrentRuns>
      concurrent_runs{};  ///< launches for `chains`; nothing if they were not planned
};

enum class CauseState : std::uint8_t { found, not_resolved, not_present, refused };

/// Share of the kernel's time, or the reason why it is unknown. It is a part of the bar or, with an
/// empty `row`, a cost of occupancy.
struct KernelCause {
  CauseRow row{};
  CauseState state{CauseState::not_resolved};
  Cost cost{};        ///< maximum gain by removing the cause
  double share{0.0};  ///< share of the kernel's time
  Interval share_interval{};
  bool is_lower_bound{false};  ///< removing the cause slowed something else
  std::string reason{};        ///< reason for a missing value or for a bound; without a full stop
};

/// Returns the cause with its cost as a share of `whole_ns`. The cause counts as found if the cost
/// is resolved and above 0. `if_negative`: the reason if the cost is resolved and below 0.
KernelCause with_cost(KernelCause cause, const Cost& cost, double whole_ns,
                      std::string_view if_negative = {});

struct KernelCauses {
  bool is_believed{false};
  std::string doubt{};           ///< reason why no cause is reported; one line, without a full stop
  double instrument_ratio{1.0};  ///< time with instrumentation / time without
  Interval instrument_interval{1.0, 1.0};
  Cost total{};         ///< time of the instrumented kernel
  Cost unattributed{};  ///< time with all causes removed
  double unattributed_share{1.0};
  std::optional<Folding> folding{};
  std::vector<KernelCause> causes{};  ///< all causes in a fixed order, including refused causes
  /// Share of the time in which the kernel, with all causes removed, waits for caches or local
  /// memory. The bar lacks this share, because no launch removes these waits.
  std::optional<KernelCause> near_waits{};
};

/// Limits of instrumented time / plain time: this ratio and its inverse. No cause is reported if
/// the whole interval of the ratio is outside.
inline constexpr double max_instrument_ratio = 1.10;
/// Maximum ratio of the ends of that interval. No cause is reported for a wider interval.
inline constexpr double max_instrument_span = 1.5;
/// Returns why the ratio is unresolved if its interval exceeds `max_instrument_ratio` or the
/// inverse; otherwise an empty text.
std::string instrument_reason(const Interval& ratio);

/// Attributes the kernel's time to causes. Throws AblationError for missing builds.
KernelCauses find_kernel_causes(const KernelTimes& times);

/// Adds waits for results of arithmetic (`chains`) and subtracts them from the unattributed time.
/// Does nothing if the other causes are not believed.
void add_chains(const ConcurrentRuns& runs, KernelCauses& causes);

std::vector<KernelCause> ranked_causes(const KernelCauses& causes);

/// Times of the whole kernel with unused local memory in each group.
struct ResidentTime {
  std::uint64_t resident_groups{0};  ///< number counted on the device
  std::uint64_t padding_bytes{0};    ///< unused local memory of each group
  Visits visits_ns{};
};

struct Occupancy {
  std::uint64_t resident_groups{0};  ///< resident groups of the unchanged kernel
  std::uint64_t fewer_groups{0};     ///< number that is compared with; 0: none
  KernelCause fewer{};
};

/// Compares the launch with minimum padding, which is the unchanged kernel, with a launch of fewer
/// resident groups. That is the largest number up to half as many, otherwise the minimum. `times`
/// may have any order. Returns nothing without times.
std::optional<Occupancy> find_occupancy(std::span<const ResidentTime> times);

/// Cost of the partial wave: the gain if all groups took as long as those of full waves.
struct Tail {
  std::uint64_t whole_waves{0};
  std::uint64_t rest_groups{0};  ///< groups in the partial wave
  KernelCause last_wave{};
};

/// Number of full waves from which on the cost of a partial wave is not measured: noise would
/// exceed it.
inline constexpr std::uint64_t max_waves = 64;

/// Returns the number of groups in all full waves; 0 if the launch needs no comparison with full
/// waves.
std::uint64_t groups_of_whole_waves(std::uint64_t groups, std::uint64_t resident_groups);

/// Returns the cost of the partial wave; nothing if no group was counted. `whole_ns`: times of
/// launches of `groups_of_whole_waves`.
std::optional<Tail> find_tail(std::uint64_t groups, std::uint64_t resident_groups,
                              const Visits& all_ns, const Visits& whole_ns);

/// Returns the share of the time in which groups only start. `ending_ns`: times of launches whose
/// groups end at their entry. Returns nothing without samples.
std::optional<KernelCause> find_starting(const Visits& kernel_ns, const Visits& ending_ns);

/// Costs of how a kernel's groups fill the device.
struct KernelOccupancy {
  std::uint64_t groups{0};  ///< number of groups of the launch
  std::string doubt{};  ///< reason why the costs are not reported; one line, without a full stop
  std::optional<Occupancy> occupancy{};
  std::optional<Tail> tail{};
  std::optional<KernelCause> starting{};
};

/// Returns the advice if no cause is reported; empty if `doubt` is empty. `doubt`: the reason,
/// without a full stop.
std::string doubt_advice(std::string_view doubt);

/// Returns one sentence on the largest cost and how to avoid it. `app_share`: the kernel's share of
/// the program's device time.
std::string kernel_advice(const KernelCauses& causes, const KernelOccupancy& filled = {},
                          std::optional<double> app_share = {});

}  // namespace clprobe::kernel
