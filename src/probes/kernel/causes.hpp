// SPDX-License-Identifier: Apache-2.0
// Attribution of a kernel's time to causes, from launches that each remove some causes. Pure.
//
// The working-set reduction lets a few distinct groups do the work of all groups. The working-set
// curve is the kernel's time over the number of distinct groups. With fewer distinct groups,
// accesses to main memory disappear first, and accesses to the last cache next. The cost of a cause
// is its Shapley value over all sets of causes (analysis/api/ablation.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/ablation.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::kernel {

struct CauseRow {
  std::string_view name{};    ///< name of the finding, such as "main_memory"
  std::string_view title{};   ///< name of the cause in sentences, such as "main memory"
  std::string_view gsi{};     ///< stall category of GSI, such as "memory data: main memory"
  std::string_view advice{};  ///< change of the kernel that avoids the cause
};

/// Removable causes, in the order of the bits of AblationBuild::idealised. Lanes are removed only
/// together with memory, because a sub-group that does the work of one lane also accesses less
/// data.
enum class Factor : std::uint8_t {
  memory,
  barriers,
  atomics,
  lanes,
  fences,
  functions,
  local_memory,  ///< removed only from PTX
};

struct FactorRow {
  CauseRow cause{};
  /// Setting that removes the cause. Null for memory, which the working-set reduction removes, and
  /// for local memory.
  bool prelude::Setting::*without{nullptr};
  /// Verdict on the removal by instrumentation; null for local memory, which no setting removes.
  prelude::Verdict prelude::Judgement::*verdict{nullptr};
  /// True if concurrent copies of the kernel hide the waits that the cause makes.
  bool is_wait{false};
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
               "use one fence after all stores of a work-item, or rely on the end of the kernel to "
               "make stores visible"},
              &prelude::Setting::without_fences,
              &prelude::Judgement::fences,
              true},
    FactorRow{{"functions", "special functions", "compute structural",
               "use native_ functions, move the calls out of loops, or look values up in a table"},
              &prelude::Setting::without_functions,
              &prelude::Judgement::functions,
              true},
    FactorRow{{"local_memory", "local memory", "memory structural: local memory",
               "keep values in registers, access local memory in wider words, and avoid bank "
               "conflicts"},
              nullptr,
              nullptr,
              true}};
inline constexpr std::size_t factor_count = factor_rows.size();

constexpr const FactorRow& row_of(Factor factor) {
  return factor_rows.at(static_cast<std::size_t>(factor));
}
constexpr Factor factor_at(std::size_t index) { return static_cast<Factor>(index); }

using FactorVerdicts = std::array<prelude::Verdict, factor_count>;

/// Returns the factors that can be removed, in the order of their bits in AblationBuild::idealised.
std::vector<Factor> removable(const FactorVerdicts& verdicts);

/// Returns for each factor the bits of the factors that must be removed before it. The result has
/// the form of AblationOptions::needs.
std::vector<std::uint32_t> needs_of(std::span<const Factor> factors);

/// Times of launches in which `distinct_groups` groups did the work of all groups.
struct FoldedTime {
  std::uint64_t distinct_groups{0};
  Visits visits_ns{};
};

struct FoldingOptions {
  double buffer_bytes{0.0};                  ///< total size of the launch's buffers; 0: unknown
  std::optional<double> last_cache_bytes{};  ///< size of the last cache, measured or reported
  /// Minimum number of distinct groups to consider. With fewer groups than a CPU has threads, the
  /// threads write to each other's cache lines.
  std::uint64_t min_groups{1};
};

/// Numbers of distinct groups that describe the working-set curve.
struct Folding {
  std::uint64_t all_groups{0};
  std::uint64_t fastest_groups{0};  ///< number of distinct groups with the minimum time
  /// Maximum number of distinct groups whose share of the buffers fills at most half of the last
  /// cache. A smaller number replaces this number if it takes clearly less time. Nothing if a size
  /// is unknown or no number fits.
  std::optional<std::uint64_t> cached_groups{};
  /// Number of distinct groups with the minimum time among the numbers from `cached_groups` up.
  std::uint64_t fastest_cached_groups{0};
  /// Largest number of distinct groups at which groups write the same cache lines; 0: none. At this
  /// number and at all smaller numbers, the kernel takes longer than its minimum by more than noise
  /// and 5 %.
  std::uint64_t collide_from{0};
};

/// Returns the numbers that describe the working-set curve `sweep`, whose points may have any
/// order. The point with the maximum number of groups is the kernel without reduction. Returns
/// nothing if fewer than two points have samples.
std::optional<Folding> find_folding(std::span<const FoldedTime> sweep,
                                    const FoldingOptions& options = {});

inline constexpr std::uint64_t copy_count = 8;

/// Times of the kernel with all causes removed: by itself, next to copies of the kernel, and next
/// to another kernel that loads.
struct ConcurrentRuns {
  std::string refusal{};  ///< reason why launches are missing; without a full stop
  Visits alone_ns{};
  Visits copies_ns{};  ///< total time of `copy_count` concurrent copies, divided by `copy_count`
  Visits next_to_loads_ns{};  ///< the kernel's time while another kernel loads
  std::uint64_t groups{0};
  std::uint64_t resident_groups{0};  ///< resident groups of the unchanged kernel; 0: unknown
  std::uint64_t units{1};
};

struct KernelTimes {
  Visits plain_ns{};     ///< time of the program's text without instrumentation
  Visits identity_ns{};  ///< time of the instrumented text with no cause removed
  /// Logarithms of the ratio instrumented time / plain time, one per block of alternating launches.
  /// May be empty.
  std::vector<double> log_ratios{};
  std::vector<FoldedTime> sweep{};
  FoldingOptions folding{};
  FactorVerdicts verdicts{};
  /// Builds for all sets of removable factors; each bit of a build is one factor. Builds without
  /// memory run the distinct groups of the chosen working-set reduction, usually
  /// `Folding::fastest_groups`.
  std::vector<AblationBuild> builds{};
  /// Times for the cause `chains`; nothing if these launches were not planned.
  std::optional<ConcurrentRuns> concurrent_runs{};
  /// True if `identity_ns` and `builds` are launches of the rewritten kernel, in which the removed
  /// memory accesses are gone. The working-set reduction, in contrast, only moves data nearer.
  bool is_rewritten{false};
  /// True if `builds` were made comparable to the plain launch although `identity_ns` differs.
  bool is_adjusted{false};
  std::string rewriting_refusal{};  ///< reason why the kernel is not rewritten; may be empty
  /// Reasons why the gain by removing a cause from the rewritten kernel is a lower bound.
  std::map<Factor, std::string> kept{};
  Visits without_loads_ns{};   ///< times of the rewritten kernel
  Visits without_stores_ns{};  ///< times of the rewritten kernel
};

enum class CauseState : std::uint8_t { found, not_resolved, not_present, refused };

/// Cost of one cause as a share of the kernel's time, or the reason why the share is unknown. A
/// cost of occupancy has an empty `row` and does not belong to the bar of causes.
struct KernelCause {
  CauseRow row{};
  CauseState state{CauseState::not_resolved};
  Cost cost{};        ///< time that the cause costs
  double share{0.0};  ///< cost as a share of the kernel's time
  Interval share_interval{};
  double max_share{0.0};         ///< largest gain over all orders of removing causes, as a share
  bool max_has_barriers{false};  ///< true if `max_share` is the gain without barriers as well
  bool is_lower_bound{false};    ///< true if the cause may cost more than `cost`
  std::string reason{};  ///< reason why the share is missing or only a bound; without a full stop
};

/// Returns `cause` with its cost as a share of `whole_ns`. The cause counts as found if `cost` is
/// resolved and above 0. `if_negative`: reason to give if `cost` is resolved and not above 0.
KernelCause with_cost(KernelCause cause, const Cost& cost, double whole_ns,
                      std::string_view if_negative = {});

struct KernelCauses {
  bool is_believed{false};
  bool is_rewritten{false};      ///< as in KernelTimes
  std::string doubt{};           ///< reason why no cause is reported; one line, without a full stop
  double instrument_ratio{1.0};  ///< instrumented or rewritten time / plain time
  Interval instrument_interval{1.0, 1.0};
  Cost total{};         ///< time of the instrumented or rewritten kernel, no cause removed
  Cost unattributed{};  ///< time of the instrumented or rewritten kernel, all causes removed
  double unattributed_share{1.0};
  std::optional<Folding> folding{};
  std::vector<KernelCause> causes{};  ///< all causes in a fixed order, including refused causes
  /// Share of the time in which the kernel, with all causes removed, waits for caches or local
  /// memory. The bar omits this share, because no launch removes waits for caches or local memory.
  std::optional<KernelCause> near_waits{};
  /// Parts of memory, which the bar omits: `loads` and `stores`.
  std::vector<KernelCause> details{};
};

/// Upper limit of the ratio instrumented time / plain time; the inverse is the lower limit. No
/// cause is reported if the ratio's whole interval lies outside the limits.
inline constexpr double max_instrument_ratio = 1.10;
/// Maximum ratio of the upper to the lower end of the interval of `instrument_ratio`. No cause is
/// reported for a wider interval.
inline constexpr double max_instrument_span = 1.5;
/// Returns the reason why `ratio` is unresolved; empty if the interval lies between 1 /
/// `max_instrument_ratio` and `max_instrument_ratio`.
std::string instrument_reason(const Interval& ratio);

/// Returns the kernel's time attributed to causes. Throws AblationError if a build is missing.
KernelCauses find_kernel_causes(const KernelTimes& times);

/// Adds the cause `chains` (waits for results of arithmetic), and subtracts its cost from the
/// unattributed time. Sets `near_waits` instead of a cost if the kernel still waits for loads. Does
/// nothing if `causes` gives no reliable attribution.
void add_chains(const ConcurrentRuns& runs, KernelCauses& causes);

std::vector<KernelCause> ranked_causes(const KernelCauses& causes);

/// Times of the whole kernel, with unused local memory in each group to limit the resident groups.
struct ResidentTime {
  std::uint64_t resident_groups{0};  ///< number of resident groups, counted on the device
  std::uint64_t padding_bytes{0};    ///< unused local memory of each group
  Visits visits_ns{};
};

struct Occupancy {
  std::uint64_t resident_groups{0};  ///< resident groups of the unchanged kernel
  std::uint64_t fewer_groups{0};     ///< smaller number of resident groups to compare with; 0: none
  KernelCause fewer{};
};

/// Returns the cost of running fewer resident groups; nothing without times. The unchanged kernel
/// is the launch with minimum padding. It is compared with the launch of the largest number of
/// groups up to half as many (inclusive). If no launch has so few groups, the launch with the
/// fewest groups is used. `times` may have any order.
std::optional<Occupancy> find_occupancy(std::span<const ResidentTime> times);

/// Cost of the partial wave: the gain if its groups took as long per group as the groups of full
/// waves.
struct Tail {
  std::uint64_t whole_waves{0};
  std::uint64_t rest_groups{0};  ///< number of groups in the partial wave
  KernelCause last_wave{};
};

/// Number of full waves from which on (inclusive) the cost of a partial wave is not measured,
/// because noise would exceed the cost.
inline constexpr std::uint64_t max_waves = 64;

/// Returns the number of groups in all full waves. Returns 0 if the cost of a partial wave is not
/// measured.
std::uint64_t groups_of_whole_waves(std::uint64_t groups, std::uint64_t resident_groups);

/// Returns the cost of the partial wave; nothing if no resident group was counted. `whole_ns`:
/// times of launches with only the groups of full waves.
std::optional<Tail> find_tail(std::uint64_t groups, std::uint64_t resident_groups,
                              const Visits& all_ns, const Visits& whole_ns);

/// Returns the share of the time in which groups only start; nothing without samples. `ending_ns`:
/// times of launches whose groups end at the entry code.
std::optional<KernelCause> find_starting(const Visits& kernel_ns, const Visits& ending_ns);

/// Costs of how a kernel's groups fill the device.
struct KernelOccupancy {
  std::uint64_t groups{0};  ///< number of groups of the launch; 0: unknown
  std::uint64_t units{1};   ///< number of compute units of the device
  std::string doubt{};      ///< reason why no cost is reported; one line, without a full stop
  std::optional<Occupancy> occupancy{};
  std::optional<Tail> tail{};
  std::optional<KernelCause> starting{};
};

/// Returns the share of the device's compute units for which the launch has no group.
double idle_share(const KernelOccupancy& filled);

/// Returns the advice for a kernel without reported causes; empty if `doubt` is empty. `doubt`:
/// reason why no cause is reported, without a full stop.
std::string doubt_advice(std::string_view doubt);

/// Bytes of a kernel's buffers and images, and the bandwidth of the device's memory.
struct BufferTransfer {
  double bytes{0.0};
  double bytes_per_second{0.0};
  double share{0.0};  ///< time to transfer each byte once, as a share of the kernel's time
};

/// Returns advice on the largest cost. If no cost is large, returns what the transfer of buffers
/// shows and why no cost is. `app_share`: the kernel's share of the program's device time.
std::string kernel_advice(const KernelCauses& causes, const KernelOccupancy& filled = {},
                          std::optional<double> app_share = {},
                          const std::optional<BufferTransfer>& transfer = {});

}  // namespace clprobe::kernel
