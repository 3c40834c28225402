// SPDX-License-Identifier: Apache-2.0
// Number of loads that a compute unit can have outstanding, from Thread-Latency curves. Pure.
//
// Source: Lashgar, Salehi, Baniasadi, "Understanding Outstanding Memory Request Handling Resources
// in GPGPUs" (HEART 2015). One work-group of n work-items issues its loads at once. The first load
// beyond the capacity of the compute unit waits for an answer: the time jumps by up to a latency. A
// pool of miss-status registers (MSHR) counts requests; a pending-request table (PRT) counts the
// load instructions of sub-groups (warps). The numbers of work-items at the jumps distinguish both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"

namespace clprobe::inflight {

/// Work-items that share a line. `within`, as in the paper: neighbours in one sub-group, which are
/// coalesced before they need an MSHR. `across`, as in the program of the paper's authors: equal
/// lanes of neighbouring sub-groups, which are merged into an occupied MSHR.
enum class MergerMode { within, across };

/// Access pattern of a curve.
struct LoadPattern {
  int loads{1};   ///< independent loads per work-item
  int merger{1};  ///< work-items (`within`) or sub-groups (`across`) that share a line
  MergerMode mode{MergerMode::within};
  std::string target{};  ///< memory that serves the loads; all curves of a target have the same
                         ///< latency
};

struct ThreadLatencyPoint {
  int work_items{0};
  std::vector<double> runs_cycles{};  ///< time of the work-group in each run
  /// Minimum time of each visit. Runs of one visit are similar; visits differ in the compute unit
  /// that runs the work-group. If empty, every run counts as a visit.
  std::vector<double> visits_cycles{};
};

struct ThreadLatencyCurve {
  LoadPattern pattern{};
  /// Time of a work-group without loads (clock reads, barrier) that is subtracted from the times.
  double overhead_cycles{0.0};
  std::vector<ThreadLatencyPoint> points{};
};

/// Plot of the paper (harmonic mean and variance) with a robust curve, which a single disturbed
/// run does not change.
struct ThreadLatencyPlot {
  std::vector<int> work_items{};        ///< strictly increasing
  std::vector<double> harmonic_mean{};  ///< harmonic mean of each point's runs
  std::vector<double> variance{};       ///< variance of each point and its two neighbours
  std::vector<double> robust{};         ///< minimum of up to 8 runs, or lower quartile of more
                                        ///< runs
};

/// Returns the harmonic mean of positive values. Throws std::invalid_argument if there are no
/// values or if a value is not positive.
double harmonic_mean(std::span<const double> values);

/// Returns the unbiased variance of each point and its two neighbours; 0 for the first and last
/// point. A single step of J gives J^2 / 3 at the two points next to the step. A ramp of d per
/// point gives d^2.
std::vector<double> three_point_variance(std::span<const double> values);

/// Returns true if sub-groups share lines, so that merge lists may fill up.
bool is_across(const LoadPattern& pattern);

/// Returns the plot of a curve, sorted by work-items. Points without runs, or with a run that is
/// not positive, are dropped.
ThreadLatencyPlot plot_of(const ThreadLatencyCurve& curve);

/// Returns the upper end of the one-sided 95 % interval of the robust curve's minimum in cycles, by
/// order statistics of bootstrapped runs. Returns 0 without usable runs.
double high_end_of_least(ThreadLatencyCurve curve);

/// Returns the number of different lines that `work_items` work-items request with all their
/// loads.
std::int64_t unique_requests(int work_items, const LoadPattern& pattern, int sub_group);

/// Returns the number of load instructions of all sub-groups of `work_items` work-items.
std::int64_t load_instructions(int work_items, const LoadPattern& pattern, int sub_group);

/// Range of whole numbers from `low` to `high`, inclusive.
struct CountRange {
  std::int64_t low{0};
  std::int64_t high{0};

  friend bool operator==(const CountRange&, const CountRange&) = default;
};

/// Measured numbers of work-items before and after a jump, or before and after a plateau's end.
struct Gap {
  int before{0};
  int after{0};

  friend bool operator==(const Gap&, const Gap&) = default;
};

struct CurveFinding {
  LoadPattern pattern{};
  double latency_cycles{0.0};  ///< minimum time minus overhead
  int min_work_items{0};       ///< smallest work-group
  int max_work_items{0};       ///< largest work-group
  Interval latency_interval{};
  double cycles_per_request{0.0};        ///< slope before the first jump
  Interval request_interval{};           ///< 95 % interval of cycles_per_request
  double whole_cycles_per_request{0.0};  ///< slope of the whole curve
  Interval whole_request_interval{};
  std::optional<Gap> spike{};  ///< first jump that may show a limit
  bool waits{false};           ///< the loads of a few work-items already wait for each other
  /// Lower bounds of the numbers in flight by Little's law: number x latency / time.
  std::int64_t min_requests{0};
  std::int64_t min_instructions{0};
  /// Upper end of the interval of `min_requests`, from the fastest run of each point.
  std::int64_t fastest_requests{0};
  std::string reason{};  ///< reason why no spike can be used
};

/// Returns the first jump of each curve, and lower bounds from the minimum latency of its target,
/// in the order of the curves. Throws std::invalid_argument if `sub_group` is not positive.
std::vector<CurveFinding> find_spikes(std::span<const ThreadLatencyCurve> curves, int sub_group);

enum class OutstandingKind { request_pool, request_table, ambiguous, neither, unobservable };

/// Returns "MSHR", "PRT", "ambiguous", "neither" or "unobservable" for the kind of limit.
std::string_view to_word(OutstandingKind kind);

struct OutstandingLimit {
  OutstandingKind kind{OutstandingKind::unobservable};
  /// Capacities of a pool that the spikes allow; set for `request_pool`, possibly for `ambiguous`.
  std::optional<CountRange> requests{};
  /// Capacities of a table that the spikes allow; set for `request_table`, possibly `ambiguous`.
  std::optional<CountRange> instructions{};
  std::optional<int> mergers{};  ///< number of loads of the same line that an entry of the pool
                                 ///< merges
  /// Lower bounds by Little's law, valid for any kind of limit; 0 without curves.
  std::int64_t min_requests{0};
  std::int64_t min_instructions{0};
  /// Upper end of the interval of `min_requests`.
  std::int64_t fastest_requests{0};
  std::vector<std::string> reasons{};  ///< reasons of `kind`, and the lower bounds as text
};

/// Infers the limit from the capacities that the spikes of the curves allow. Curves whose
/// sub-groups share lines determine only the mergers and the lower bounds. Throws
/// std::invalid_argument if `sub_group` is not positive.
OutstandingLimit infer_limit(std::span<const CurveFinding> curves, int sub_group);

/// Number of loads that one sub-group can have in flight, limited by its scoreboard or its
/// registers.
struct SubGroupLoads {
  std::optional<CountRange> loads{};  ///< nothing if unknown
  std::optional<CountRange> open{};   ///< open range of one target: curves with loads in this
                                      ///< range would narrow the limit
  int at_least{0};                    ///< loads that were in flight together; 0 if unknown
  std::string reason{};               ///< reason why `loads` is unknown
};

/// Finds the loads of a sub-group from the minimum times of curves without mergers. If a sub-group
/// exceeds its limit by one load, the time rises by one latency. The limit is not that of the
/// compute unit if, by Little's law, other curves had more requests and instructions in flight.
SubGroupLoads find_sub_group_loads(std::span<const CurveFinding> curves);

}  // namespace clprobe::inflight
