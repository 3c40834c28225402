// SPDX-License-Identifier: Apache-2.0
// Number of loads that a compute unit can have outstanding, from Thread-Latency curves. Pure.
//
// Source: Lashgar, Salehi, Baniasadi, "Understanding Outstanding Memory Request Handling Resources
// in GPGPUs" (HEART 2015). One work-group of n work-items issues its loads at once. If they exceed
// the capacity of the compute unit, the time jumps by the rest of the latency. A pool of
// miss-status registers (MSHR) counts requests; a pending-request table (PRT) counts the load
// instructions of sub-groups (warps). The numbers of work-items at the jumps distinguish the two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"

namespace clprobe::inflight {

/// Work-items that share a line: neighbours in one sub-group (`within`, as in the paper), which are
/// coalesced before they need an MSHR; or equal lanes of neighbouring sub-groups (`across`, as in
/// the authors' program), which are merged into an occupied MSHR.
enum class MergerMode { within, across };

/// Access pattern of a curve.
struct LoadPattern {
  int loads{1};   ///< independent loads per work-item
  int merger{1};  ///< work-items (`within`) or sub-groups (`across`) that share a line
  MergerMode mode{MergerMode::within};
  std::string target{};  ///< memory that serves the loads; curves of one target share a latency
};

struct ThreadLatencyPoint {
  int work_items{0};
  std::vector<double> runs_cycles{};  ///< time of the work-group in each run
  /// Minimum of each visit. Runs of one visit are similar; visits differ by the compute unit that
  /// runs the work-group. Empty: every run is a visit.
  std::vector<double> visits_cycles{};
};

struct ThreadLatencyCurve {
  LoadPattern pattern{};
  /// Time of the work-group without loads (clock, barrier), which is subtracted from latencies.
  double overhead_cycles{0.0};
  std::vector<ThreadLatencyPoint> points{};
};

/// The paper's plot (harmonic mean and variance), and a robust curve that one disturbed run does
/// not move.
struct ThreadLatencyPlot {
  std::vector<int> work_items{};        ///< strictly increasing
  std::vector<double> harmonic_mean{};  ///< harmonic mean of each point's runs
  std::vector<double> variance{};       ///< variance of each point with its two neighbours
  std::vector<double> robust{};         ///< minimum of the runs; lower quartile from 9 runs on
};

/// Returns the harmonic mean of positive values. Throws std::invalid_argument for no values or a
/// value that is not positive.
double harmonic_mean(std::span<const double> values);

/// Returns the unbiased variance of each point with its two neighbours, 0 at both ends. A single
/// step of J gives J^2 / 3 at the two points next to it; a ramp of d per point gives d^2.
std::vector<double> three_point_variance(std::span<const double> values);

/// Returns true if sub-groups share lines, so that the merge lists of a pool's entries may be full.
bool is_across(const LoadPattern& pattern);

/// Plots a curve by work-items. Points without runs, or with a run that is not positive, are
/// dropped.
ThreadLatencyPlot plot_of(const ThreadLatencyCurve& curve);

/// Returns the upper end of the 95 % interval of the robust curve's minimum, by the order
/// statistics of bootstrapped runs; 0 without usable runs.
double high_end_of_least(ThreadLatencyCurve curve);

/// Counts the different lines that `work_items` work-items request with all their loads.
std::int64_t unique_requests(int work_items, const LoadPattern& pattern, int sub_group);

/// Counts the load instructions of all sub-groups of `work_items` work-items.
std::int64_t load_instructions(int work_items, const LoadPattern& pattern, int sub_group);

/// A range of whole numbers from `low` to `high`, inclusive.
struct CountRange {
  std::int64_t low{0};
  std::int64_t high{0};

  friend bool operator==(const CountRange&, const CountRange&) = default;
};

/// Two measured numbers of work-items with a jump between them.
struct Gap {
  int before{0};
  int after{0};

  friend bool operator==(const Gap&, const Gap&) = default;
};

struct CurveFinding {
  LoadPattern pattern{};
  double latency_cycles{0.0};  ///< minimum time less overhead
  int min_work_items{0};       ///< smallest work-group
  int max_work_items{0};       ///< largest work-group
  Interval latency_interval{};
  double cycles_per_request{0.0};        ///< slope before the first jump
  Interval request_interval{};           ///< 95 % interval of cycles_per_request
  double whole_cycles_per_request{0.0};  ///< slope of the whole curve
  Interval whole_request_interval{};
  std::optional<Gap> spike{};  ///< first jump that may show a limit
  bool waits{false};           ///< true if the loads of a few work-items wait for each other
  /// Lower bounds of the number in flight by Little's law: requests x latency / time.
  std::int64_t min_requests{0};
  std::int64_t min_instructions{0};
  /// Upper end of the interval of `min_requests`, by the fastest run of each point.
  std::int64_t fastest_requests{0};
  std::string reason{};  ///< reason why no spike can be used
};

/// Finds the first jump of each curve of one device, and lower bounds by the minimum latency of
/// each target. Throws std::invalid_argument if `sub_group` is not positive.
std::vector<CurveFinding> find_spikes(std::span<const ThreadLatencyCurve> curves, int sub_group);

enum class OutstandingKind { request_pool, request_table, ambiguous, neither, unobservable };

/// Returns "MSHR", "PRT", "ambiguous", "neither" or "unobservable".
std::string_view to_word(OutstandingKind kind);

struct OutstandingLimit {
  OutstandingKind kind{OutstandingKind::unobservable};
  /// Capacity of a pool that the spikes allow; nothing if they allow none.
  std::optional<CountRange> requests{};
  /// Capacity of a table that the spikes allow; nothing if they allow none.
  std::optional<CountRange> instructions{};
  std::optional<int> mergers{};  ///< loads of one line that an entry of the pool merges
  /// Lower bounds by Little's law for any kind; 0 without curves.
  std::int64_t min_requests{0};
  std::int64_t min_instructions{0};
  /// Upper end of the interval of `min_requests`.
  std::int64_t fastest_requests{0};
  std::vector<std::string> reasons{};  ///< sentences, the decisive ones first
};

/// Infers the limit by intersecting the ranges of the curves' spikes. Curves whose sub-groups share
/// lines decide only about mergers. Throws std::invalid_argument if `sub_group` is not positive.
OutstandingLimit infer_limit(std::span<const CurveFinding> curves, int sub_group);

/// Number of loads that one sub-group can have outstanding, by its scoreboard or its registers.
struct SubGroupLoads {
  std::optional<CountRange> loads{};  ///< nothing: unknown
  std::optional<CountRange> open{};   ///< range of one target in which more loads can be measured
  int at_least{0};                    ///< loads that were in flight together; 0: unknown
  std::string reason{};               ///< reason why `loads` is unknown
};

/// Finds the loads of a sub-group from the minimum times of curves without mergers. One load more
/// than a sub-group can have takes one latency more. The limit is not that of the compute unit if
/// more requests and instructions were in flight elsewhere, by Little's law.
SubGroupLoads find_sub_group_loads(std::span<const CurveFinding> curves);

}  // namespace clprobe::inflight
