// SPDX-License-Identifier: Apache-2.0
// Number of loads that a compute unit can have outstanding, from Thread-Latency curves. Pure.
//
// Source: Lashgar, Salehi, Baniasadi, "Understanding Outstanding Memory Request Handling Resources
// in GPGPUs" (HEART 2015). One work-group of n work-items issues its loads at once. Where n
// work-items request more than the compute unit can hold, the time jumps by what is left of the
// latency. A pool of miss-status registers (MSHR) counts requests, a pending-request table (PRT)
// counts the load instructions of sub-groups (warps). The places of the jumps decide between the
// two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"

namespace clprobe::inflight {

/// Which work-items share a line. Neighbours in one sub-group (`within`, as in the paper) are
/// coalesced before a register is taken. Equal lanes of neighbouring sub-groups (`across`, as in
/// its authors' program) are merged into a register that is taken.
enum class MergerMode { within, across };

/// The loads of a curve's work-items.
struct LoadPattern {
  int loads{1};   ///< independent loads of each work-item
  int merger{1};  ///< work-items (`within`) or sub-groups (`across`) that share a line
  MergerMode mode{MergerMode::within};
  std::string target{};  ///< memory that answers; curves of one target share a latency
};

struct ThreadLatencyPoint {
  int work_items{0};
  std::vector<double> runs_cycles{};  ///< time of the work-group in each run
  /// Minimum of each visit. The runs of a visit are alike and visits differ, by the compute unit
  /// that the group was given. Empty: every run is a visit.
  std::vector<double> visits_cycles{};
};

struct ThreadLatencyCurve {
  LoadPattern pattern{};
  /// Time of the same work-group without its loads (clock, barrier). With it, latencies and so
  /// lower bounds would be too high by overhead / latency.
  double overhead_cycles{0.0};
  std::vector<ThreadLatencyPoint> points{};
};

/// The plot of the paper, and a curve that one disturbed run does not move.
struct ThreadLatencyPlot {
  std::vector<int> work_items{};        ///< strictly increasing
  std::vector<double> harmonic_mean{};  ///< of the runs of each point
  std::vector<double> variance{};       ///< of each point and its two neighbours
  std::vector<double> robust{};         ///< minimum of the runs, lower quartile from 9 runs on
};

/// Returns the harmonic mean of positive values. Throws std::invalid_argument when there are none
/// or one is not positive.
double harmonic_mean(std::span<const double> values);

/// Returns the unbiased variance of each point with its two neighbours, 0 at both ends. A lone step
/// J gives J^2 / 3 at the two points next to it, a ramp of d per point gives d^2.
std::vector<double> three_point_variance(std::span<const double> values);

/// True if sub-groups share lines, so that the merge lists of a pool's entries may be full.
bool is_across(const LoadPattern& pattern);

/// Plots a curve by work-items, without points that have no runs or a run that is not positive.
ThreadLatencyPlot plot_of(const ThreadLatencyCurve& curve);

/// Returns the value below which the minimum of the robust curve stays in 95 of 100 bootstraps of
/// each point's runs, by their order statistics; 0 without usable runs.
double high_end_of_least(ThreadLatencyCurve curve);

/// Counts the different lines that `work_items` work-items request, all loads together.
std::int64_t unique_requests(int work_items, const LoadPattern& pattern, int sub_group);

/// Counts the load instructions that `work_items` work-items issue as sub-groups.
std::int64_t load_instructions(int work_items, const LoadPattern& pattern, int sub_group);

/// Whole numbers from `low` to `high`, both included.
struct CountRange {
  std::int64_t low{0};
  std::int64_t high{0};

  friend bool operator==(const CountRange&, const CountRange&) = default;
};

/// Two numbers of work-items; the time jumps in between.
struct Gap {
  int before{0};
  int after{0};

  friend bool operator==(const Gap&, const Gap&) = default;
};

/// Findings of one curve.
struct CurveFinding {
  LoadPattern pattern{};
  double latency_cycles{0.0};      ///< minimum time less overhead
  int min_work_items{0};           ///< of the smallest work-group
  int max_work_items{0};           ///< of the largest work-group
  Interval latency_interval{};     ///< up to high_end_of_least or by two noises, and as far down
  double cycles_per_request{0.0};  ///< before the first jump
  Interval request_interval{};     ///< of cycles_per_request: 95 %, from the points' distances
  double whole_cycles_per_request{0.0};  ///< of the whole curve, as if it had no jump
  Interval whole_request_interval{};
  std::optional<Gap> spike{};  ///< where the first jump is that may be a limit's
  bool waits{false};           ///< loads of a few work-items wait for each other: shows no limit
  /// Little's law: requests x latency / time is the mean number in flight. Floors of the largest.
  std::int64_t min_requests{0};
  std::int64_t min_instructions{0};
  /// Mean number in flight by the fastest run of each point: how high the bound itself might be,
  /// not the limit.
  std::int64_t fastest_requests{0};
  std::string reason{};  ///< why there is no spike, or none that can be used
};

/// Finds the first jump of each curve of one device, and lower bounds by the least latency of each
/// target. Throws std::invalid_argument when `sub_group` is not positive.
std::vector<CurveFinding> find_spikes(std::span<const ThreadLatencyCurve> curves, int sub_group);

enum class OutstandingKind { request_pool, request_table, ambiguous, neither, unobservable };

/// "MSHR", "PRT", "ambiguous", "neither", "unobservable".
std::string_view to_word(OutstandingKind kind);

struct OutstandingLimit {
  OutstandingKind kind{OutstandingKind::unobservable};
  /// Capacities that the spikes allow a pool (requests) and a table (load instructions); for
  /// `ambiguous` both. Absent: none.
  std::optional<CountRange> requests{};
  std::optional<CountRange> instructions{};
  std::optional<int> mergers{};  ///< loads of one line that a pool's entry holds
  /// Lower bounds by Little's law, whatever the kind; 0 where no curve was measured.
  std::int64_t min_requests{0};
  std::int64_t min_instructions{0};
  /// Upper end of the interval of `min_requests` (a bound as well, and not the limit).
  std::int64_t fastest_requests{0};
  std::vector<std::string> reasons{};  ///< plain sentences, the deciding ones first
};

/// Returns the request range and the instruction range of a curve's spike. Absent where its place
/// excludes the kind: no further line is requested there, or no further sub-group begins.
std::optional<CountRange> request_range(const CurveFinding& curve, int sub_group);
std::optional<CountRange> instruction_range(const CurveFinding& curve, int sub_group);

/// Intersects the ranges of the curves' spikes. Curves whose sub-groups share lines decide only
/// about mergers. Throws std::invalid_argument when `sub_group` is not positive.
OutstandingLimit infer_limit(std::span<const CurveFinding> curves, int sub_group);

/// Loads that one sub-group can have outstanding (the limit of its scoreboard, or of the
/// registers a driver gives them), whatever the compute unit holds.
struct SubGroupLoads {
  std::optional<CountRange> loads{};  ///< absent: unknown
  std::optional<CountRange> open{};   ///< of one target: numbers of loads to measure between
  int at_least{0};                    ///< loads that were under way together; 0: unknown
  std::string reason{};  ///< empty also where all loads that were tried were under way together
};

/// Compares the minimum times of curves without mergers. One load more than a sub-group can have
/// takes a latency more. That is no pool or table of the compute unit if, by Little's law, more
/// requests and instructions were in flight there than those that wait.
SubGroupLoads find_sub_group_loads(std::span<const CurveFinding> curves);

}  // namespace clprobe::inflight
