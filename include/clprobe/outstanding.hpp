// SPDX-License-Identifier: Apache-2.0
// How many loads a compute unit can have outstanding, from Thread-Latency curves. Pure.
//
// Source: Lashgar, Salehi, Baniasadi, "Understanding Outstanding Memory Request Handling Resources
// in GPGPUs" (HEART 2015). One work-group of n work-items issues its loads at once; where n asks
// for more than the compute unit can hold, the time jumps by what is left of the latency. A pool of
// miss-status registers (MSHR) counts requests, a pending-request table (PRT) counts the load
// instructions of sub-groups (warps); which of the two it is follows from where the jumps are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/statistics.hpp"

namespace clprobe {

/// Who shares a line. Neighbouring work-items of one sub-group (`within`, as the paper says): that
/// is coalesced before any register is taken. Or the same lanes of neighbouring sub-groups
/// (`across`, as its authors' program does): those are merged into a register that is taken.
enum class MergerMode { within, across };

/// What the work-items of a curve ask for.
struct LoadPattern {
  int loads{1};   ///< independent loads of each work-item
  int merger{1};  ///< how many work-items (`within`) or sub-groups (`across`) share a line
  MergerMode mode{MergerMode::within};
  std::string
      target{};  ///< what answers: "L2", "memory", ...; curves of one target share a latency
};

struct ThreadLatencyPoint {
  int work_items{0};
  std::vector<double> runs_cycles{};  ///< the time of the work-group in each run
  /// The least of each visit, whose runs are alike where visits differ (by the unit that the group
  /// was given). Empty: every run is a visit.
  std::vector<double> visits_cycles{};
};

struct ThreadLatencyCurve {
  LoadPattern pattern{};
  /// What the same work-group takes without its loads (clock, barrier). Were it left in, latencies
  /// and so lower bounds would come out too high by overhead / latency.
  double overhead_cycles{0.0};
  std::vector<ThreadLatencyPoint> points{};
};

/// The plot of the paper, and a curve that one disturbed run does not move.
struct ThreadLatencyPlot {
  std::vector<int> work_items{};        ///< strictly increasing
  std::vector<double> harmonic_mean{};  ///< of the runs of each point
  std::vector<double> variance{};       ///< of each point and its two neighbours
  std::vector<double> robust{};         ///< least of the runs, lower quartile from 9 runs on
};

/// Of positive values; throws std::invalid_argument when there are none or one is not positive.
double harmonic_mean(std::span<const double> values);

/// Unbiased variance of each point with its two neighbours, 0 at both ends. A lone step J gives
/// J^2 / 3 at the two points beside it, a ramp of d per point gives d^2.
std::vector<double> three_point_variance(std::span<const double> values);

/// Points by work-items; those without runs, or with a run that is not positive, are left out.
ThreadLatencyPlot plot_of(const ThreadLatencyCurve& curve);

/// Where the least of the robust curve stays below in 95 of 100 bootstraps of each point's runs, by
/// their order statistics; 0 without usable runs.
double high_end_of_least(ThreadLatencyCurve curve);

/// Different lines that `work_items` work-items ask for, all loads together.
std::int64_t unique_requests(int work_items, const LoadPattern& pattern, int sub_group);

/// Load instructions that `work_items` work-items issue as sub-groups.
std::int64_t load_instructions(int work_items, const LoadPattern& pattern, int sub_group);

/// Whole numbers from `low` to `high`, both included.
struct CountRange {
  std::int64_t low{0};
  std::int64_t high{0};

  friend bool operator==(const CountRange&, const CountRange&) = default;
};

/// Two neighbouring numbers of work-items; the time jumps in between.
struct Gap {
  int before{0};
  int after{0};

  friend bool operator==(const Gap&, const Gap&) = default;
};

struct Spike {
  Gap gap{};                    ///< where the jump most likely is
  std::vector<Gap> possible{};  ///< where noise lets it be, `gap` included; rising, without holes
  double jump_cycles{0.0};
  double variance{0.0};  ///< the larger of the plot's variances on both sides
  /// Capacities that were asked for up to here: 1, or more where earlier jumps hide among the first
  /// sub-group's points and the distance to the next jump tells that there must be some.
  int multiple{1};
};

/// What one curve says.
struct CurveFinding {
  LoadPattern pattern{};
  double latency_cycles{0.0};      ///< least time less overhead
  int latency_work_items{0};       ///< that take it
  Interval latency_interval{};     ///< to high_end_of_least or by two noises, and as far down
  double cycles_per_request{0.0};  ///< before the first jump
  Interval request_interval{};     ///< of cycles_per_request: 95 %, from the points' distances
  double whole_cycles_per_request{0.0};  ///< of the whole curve, as if it had no jump
  Interval whole_request_interval{};
  double noise{0.0};             ///< standard deviation of the robust curve, as a share of it
  std::optional<Spike> spike{};  ///< the first
  /// Requests and instructions at up to which a jump would have been seen (2 latency - time is
  /// large enough): a silent curve speaks only about capacities between these. Empty (high < low)
  /// when it would have been seen nowhere.
  CountRange visible_requests{1, 0};
  CountRange visible_instructions{1, 0};
  /// Little's law: requests x latency / time is the mean number in flight. Floors of the largest.
  std::int64_t min_requests{0};
  std::int64_t min_instructions{0};
  /// The same with the fastest run of each point: how high the bound itself might be, not the
  /// limit.
  std::int64_t fastest_requests{0};
  std::string reason{};  ///< why there is no spike, or none that can be used
};

enum class OutstandingKind { request_pool, request_table, ambiguous, neither, unobservable };

/// "MSHR", "PRT", "ambiguous", "neither", "unobservable".
std::string_view to_word(OutstandingKind kind);

/// How many loads of one line a pool's entry holds, from mergers across sub-groups.
struct MergeCapacity {
  int at_least{1};
  std::optional<int> at_most{};
};

struct OutstandingLimit {
  OutstandingKind kind{OutstandingKind::unobservable};
  /// Capacities that the spikes allow a pool (requests) and a table (load instructions); for
  /// `ambiguous` both. Absent: none.
  std::optional<CountRange> requests{};
  std::optional<CountRange> instructions{};
  std::optional<MergeCapacity> mergers{};
  /// Lower bounds by Little's law, whatever the kind; 0 where no curve was measured.
  std::int64_t min_requests{0};
  std::int64_t min_instructions{0};
  /// The upper end of the interval of `min_requests` (a bound as well, and not the limit).
  std::int64_t fastest_requests{0};
  std::vector<std::string> reasons{};  ///< plain sentences, the deciding ones first
};

/// The request range and the instruction range of a curve's spike. Absent where its place excludes
/// the kind: no further line is asked for there, or no further sub-group begins.
std::optional<CountRange> request_range(const CurveFinding& curve, int sub_group);
std::optional<CountRange> instruction_range(const CurveFinding& curve, int sub_group);

/// The first jump of one curve, without the lower bounds, which need all curves of a target.
CurveFinding find_spike(const ThreadLatencyCurve& curve, int sub_group);

/// All curves of one device; the lower bounds take the least latency of each target's curves.
/// Throws std::invalid_argument when `sub_group` is not positive.
std::vector<CurveFinding> find_spikes(std::span<const ThreadLatencyCurve> curves, int sub_group);

/// Intersects the ranges over loads and mergers. Findings may also be written by hand, from
/// published spikes. Throws std::invalid_argument when `sub_group` is not positive.
OutstandingLimit infer_limit(std::span<const CurveFinding> curves, int sub_group);

/// How many loads one sub-group can have outstanding (its scoreboard's limit, or that of the
/// registers a driver gives them), whatever the compute unit holds.
struct SubGroupLoads {
  std::optional<CountRange> loads{};  ///< absent: not seen
  /// One target's, whether or not it is the sub-group's own: what to measure between.
  std::optional<CountRange> open{};
  int at_least{0};       ///< so many were under way together; 0: not known
  std::string reason{};  ///< empty also where all loads that were tried were under way together
};

/// From the least times of curves without mergers. One load more than a sub-group can have takes a
/// latency more. That is no pool or table of the compute unit where more requests and instructions
/// were in flight there, by Little's law, than those that wait.
SubGroupLoads find_sub_group_loads(std::span<const CurveFinding> curves);

}  // namespace clprobe
