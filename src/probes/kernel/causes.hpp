// SPDX-License-Identifier: Apache-2.0
// The parts of a user's kernel's time, by launches that remove one cause of waiting or several.
//
// The working-set reduction lets few distinct groups do the work of all groups. Time against the
// number of distinct groups is a working-set curve of the kernel: as groups share data, accesses to
// main memory go first, then those to the last cache. A cause that is removed together with others
// has its Shapley value over all sets of causes (clprobe/ablation.hpp). Pure.
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

/// The words for a cause.
struct CauseRow {
  std::string_view name{};    ///< of its finding: "main_memory"
  std::string_view title{};   ///< in sentences: "main memory"
  std::string_view gsi{};     ///< its category of GSI: "memory data: main memory"
  std::string_view advice{};  ///< how to change the code
};

/// Causes that a launch can be without, in the order of the bits of AblationBuild::idealised. Lanes
/// can be removed only with memory: a sub-group that does the work of one lane touches less data.
enum class Factor : std::uint8_t { memory, barriers, atomics, lanes, fences, functions };

struct FactorRow {
  CauseRow cause{};
  /// Null for memory, which the working-set reduction removes.
  bool prelude::Setting::*without{nullptr};
  prelude::Verdict prelude::Judgement::*verdict{nullptr};
  bool is_wait{false};  ///< concurrent copies of a kernel that has it hide its waits
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
constexpr Factor factor_at(std::size_t place) { return static_cast<Factor>(place); }

/// Verdicts on the removal of each factor of a kernel.
using FactorVerdicts = std::array<prelude::Verdict, factor_count>;

/// The factors that can be, in the order of the bits of builds.
std::vector<Factor> removable(const FactorVerdicts& verdicts);

/// For each of these factors the bits of those that have to be removed before it
/// (AblationOptions::needs).
std::vector<std::uint32_t> needs_of(std::span<const Factor> factors);

/// Launches in which this many distinct groups did the work of all.
struct FoldedTime {
  std::uint64_t distinct_groups{0};
  Visits visits_ns{};
};

struct FoldingOptions {
  double buffer_bytes{0.0};                  ///< of all buffers of the launch; 0: unknown
  std::optional<double> last_cache_bytes{};  ///< measured or reported
  /// Fewer distinct groups do not fill the device with different work: the threads of a CPU then
  /// write to each other's lines.
  std::uint64_t min_groups{1};
};

/// The findings of the working-set curve.
struct Folding {
  std::uint64_t all_groups{0};
  std::uint64_t fastest_groups{0};  ///< with the minimum time
  /// Most groups whose part of the buffers fills at most half of the last cache, or fewer if these
  /// clearly take less time. Nothing if sizes are unknown, or no number of groups fits.
  std::optional<std::uint64_t> cached_groups{};
  std::uint64_t fastest_cached_groups{0};  ///< with the minimum time of at least `cached_groups`
  /// From this number of groups down the kernel takes longer than its minimum, by more than noise
  /// and 5 %, because groups write the same lines. 0: it does not.
  std::uint64_t collide_from{0};
};

/// Points in any order; the one with most groups is the kernel as it is. Nothing for fewer than two
/// points with samples.
std::optional<Folding> find_folding(std::span<const FoldedTime> sweep,
                                    const FoldingOptions& options = {});

/// Number of copies of a kernel that run side by side.
inline constexpr std::uint64_t bare_copies = 8;

/// Launches of the kernel without all causes, alone and with others.
struct BareRuns {
  std::string refusal{};  ///< why there are none; without a full stop
  Visits alone_ns{};
  Visits copies_ns{};        ///< the time of `bare_copies` side by side, divided by their number
  Visits beside_loads_ns{};  ///< the kernel's time while another kernel loads
  std::uint64_t groups{0};
  std::uint64_t resident_groups{0};  ///< of the kernel as it is; 0: unknown
  std::uint64_t units{1};
};

/// The launches of one kernel.
struct KernelTimes {
  Visits plain_ns{};     ///< without instrumentation
  Visits identity_ns{};  ///< with instrumentation that removes nothing
  /// Logarithms of the ratios of these two, from blocks of alternating launches; may be empty.
  std::vector<double> turn_log_ratios{};
  std::vector<FoldedTime> sweep{};
  FoldingOptions folding{};
  FactorVerdicts verdicts{};
  /// The removable factors are its bits; builds without memory have `Folding::fastest_groups`.
  std::vector<AblationBuild> builds{};
  std::optional<BareRuns> bare_runs{};  ///< nothing if none was planned
};

enum class CauseState : std::uint8_t { found, not_resolved, not_present, refused };

/// A share of the kernel's time, or the reason why there is none: a part of the bar, or, without a
/// name, a cost of how groups fill the device.
struct KernelCause {
  CauseRow row{};
  CauseState state{CauseState::not_resolved};
  Cost cost{};        ///< maximum gain without it
  double share{0.0};  ///< of the kernel's time
  Interval share_interval{};
  bool is_lower_bound{false};  ///< its removal made something else slower
  std::string reason{};        ///< why there is no value, or why it is a bound; without a full stop
};

/// The cause with its cost, as a share of `whole_ns`: found if it is resolved and above 0.
/// `if_negative` is the reason for a resolved cost below 0.
KernelCause with_cost(KernelCause cause, const Cost& cost, double whole_ns,
                      std::string_view if_negative = {});

struct KernelCauses {
  bool is_believed{false};
  std::string doubt{};           ///< why not; one line, without a full stop
  double instrument_ratio{1.0};  ///< identity to plain
  Interval instrument_interval{1.0, 1.0};
  Cost total{};         ///< the instrumented kernel
  Cost unattributed{};  ///< what remains without all causes
  double unattributed_share{1.0};
  std::optional<Folding> folding{};
  std::vector<KernelCause> causes{};  ///< in a fixed order, with the refused ones
  /// Share of the time in which the kernel without all causes waits for loads and stores that
  /// caches or local memory serve. No part of the bar: no launch removes it.
  std::optional<KernelCause> near_waits{};
};

/// An instrumented kernel that takes more than this ratio, or less than its inverse, is another
/// kernel. Its causes are reported if the interval of the ratio leaves that open.
inline constexpr double max_instrument_ratio = 1.10;
/// An interval of the ratio whose ends are farther apart leaves everything open.
inline constexpr double max_instrument_span = 1.5;
/// Why the ratio is not resolved, if its interval exceeds these limits; else empty.
std::string instrument_reason(const Interval& ratio);

/// Throws AblationError for missing builds.
KernelCauses find_kernel_causes(const KernelTimes& times);

/// Adds waits for results of arithmetic (`chains`), a part of what was unattributed. Nothing if the
/// other causes are not believed.
void add_chains(const BareRuns& runs, KernelCauses& causes);

/// The causes that were found, the largest first.
std::vector<KernelCause> ranked_causes(const KernelCauses& causes);

/// Launches of the whole kernel with unused local memory.
struct ResidentTime {
  std::uint64_t resident_groups{0};  ///< on the device, as counted
  std::uint64_t padding_bytes{0};    ///< of local memory, for each group
  Visits visits_ns{};
};

/// The cost of fewer resident groups.
struct Occupancy {
  std::uint64_t resident_groups{0};  ///< of the kernel as it is
  std::uint64_t fewer_groups{0};     ///< that it is compared with; 0: none
  KernelCause fewer{};
};

/// `times` in any order; the one with the least padding is the kernel as it is. It is compared with
/// the largest number of groups that is at most half, else with the smallest. Nothing for no times.
std::optional<Occupancy> find_occupancy(std::span<const ResidentTime> times);

/// The gain if all groups took as long as those of full waves.
struct Tail {
  std::uint64_t whole_waves{0};
  std::uint64_t rest_groups{0};  ///< in the last wave
  KernelCause last_wave{};
};

/// The last wave of more waves than this is a part of the time that noise hides.
inline constexpr std::uint64_t max_waves = 64;

/// The number of groups in the launch of full waves; 0 if none is worth a launch.
std::uint64_t groups_of_whole_waves(std::uint64_t groups, std::uint64_t resident_groups);

/// `whole_ns`: launches of `groups_of_whole_waves`. Nothing if no group was counted.
std::optional<Tail> find_tail(std::uint64_t groups, std::uint64_t resident_groups,
                              const Visits& all_ns, const Visits& whole_ns);

/// The share of the time that the launch takes if all groups end at their entry (`ending_ns`).
/// Returns nothing without samples.
std::optional<KernelCause> find_starting(const Visits& kernel_ns, const Visits& ending_ns);

/// The costs of how a kernel's groups fill the device.
struct KernelOccupancy {
  std::uint64_t groups{0};  ///< of the launch
  std::string doubt{};      ///< why nothing else is believed; one line, without a full stop
  std::optional<Occupancy> occupancy{};
  std::optional<Tail> tail{};
  std::optional<KernelCause> starting{};
};

/// The advice without any causes; `doubt` has no full stop. Empty for an empty one.
std::string doubt_advice(std::string_view doubt);

/// One sentence on the largest of all costs and how to avoid it; `app_share`: the kernel's share of
/// the program's device time.
std::string kernel_advice(const KernelCauses& causes, const KernelOccupancy& filled = {},
                          std::optional<double> app_share = {});

}  // namespace clprobe::kernel
