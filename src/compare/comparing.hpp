// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of this folder share. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "compare/api/compare.hpp"

namespace clprobe {

/// Returns the result of a probe; null without one.
const ComparedResult* result_of(const RunDigest& run, std::string_view probe);

/// Returns better or worse by the finding's direction; `different` without a direction.
Verdict direction_of(const Finding& finding, bool is_more);

/// Returns true if a change may belong to this run alone, so that only several runs per side can
/// show it.
bool passes_with_run(const ComparedFinding& baseline, const ComparedFinding& other);

/// Makes a change `unclear` if there is one run per side, and the change may belong to this run or
/// to other tenants of a virtual machine's host.
void leave_to_several_runs(const ComparedFinding& baseline, const ComparedFinding& other,
                           Judgement& judged);

/// Returns true if a finding has a value, or a word other than "unknown" and the like.
bool says_something(const Finding& finding);

inline bool is_change(Verdict verdict) {
  return verdict != Verdict::same && verdict != Verdict::unclear;
}

/// Returns the doubt about findings of a series that were timed differently, since events and the
/// host's clock time launches differently. Empty if both runs have the same timer.
std::string doubt_of_timers(const ComparedResult& baseline, const ComparedResult& other,
                            std::string_view series);

/// Returns the doubt about clock rates that were calibrated in two ways. On an H200 without events,
/// calibration against the host's clock was 30 % too low, far beyond its interval.
std::string doubt_of_clock(const Finding& baseline, const Finding& other);

/// Returns why two runs with different methods get no verdict, with the versions of their tools.
std::string differing_methods(const RunDigest& baseline, const RunDigest& other);

/// Returns true for a share, for which differences are compared instead of ratios.
bool is_share(const Finding& finding);

/// Returns true if differences are judged as shares of a whole: for a share, or a part of another
/// finding of the run.
bool is_part(const ComparedFinding& compared);

/// Converts a part of another finding to a share of `whole`, which is above 0.
ComparedFinding as_share(const ComparedFinding& compared, double whole);

/// Position of a finding on the axis of comparisons: the natural logarithm of its value, or the
/// value of a share.
struct Position {
  double value{0.0};
  /// Distance to the lower end of the 95 % interval, including all known errors.
  double below{0.0};
  double above{0.0};         ///< distance to the upper end; both may be infinite
  bool has_interval{false};  ///< true if the finding has its own interval
  std::size_t degrees{normal_degrees};
};

/// Returns the position of a finding, combining all of its errors. Requires a value, which must be
/// above 0 unless the finding is a share.
Position locate(const ComparedFinding& compared);

/// Difference of two findings on their axis.
struct Difference {
  double change{0.0};
  Interval interval{};  ///< 95 %
  std::size_t degrees{normal_degrees};

  /// Returns the distance to the farther end: the largest change that the data do not exclude.
  [[nodiscard]] double farthest() const;
  /// Returns how far the end nearest to 0 exceeds `bound`; negative within `bound`.
  [[nodiscard]] double beyond(double bound) const;
  /// Returns the probability of a difference this large if the true change is within `bound`.
  [[nodiscard]] double p_value(double bound) const;
};

Difference difference(const Position& from, const Position& to);

/// A point, and the time of its access if above 0.
struct TimedPoint {
  const Point* point{nullptr};
  std::optional<Estimate> time{};
};

/// Returns the points of each series, in the order of the result.
std::vector<std::vector<TimedPoint>> points_by_series(const ProbeResult& result,
                                                      const DeviceInfo& device);

/// Returns the curve of the points of one series, at least one point. `is_rate`: values are bytes
/// per second instead of seconds. `shown`: parameter on the x axis of the probe's chart.
ComparedCurve curve_of(const std::vector<TimedPoint>& points, bool is_rate,
                       const std::string& shown);

/// A series of the baseline that another run measured only in part, or not at all.
struct Cut {
  std::string series{};
  std::string reason{};
};

/// Returns the series of which the other run has no point, or less than half of the baseline's
/// points or, for the same device, of its range of sizes. Excludes series that are measured only on
/// demand of others.
std::vector<Cut> find_cuts(const ComparedResult& baseline, const ComparedResult& other,
                           bool is_same_device);

/// Compares one series of a run with the baseline's, point by point.
CurveSummary summarise_curve(std::size_t run, const std::string& probe,
                             const ComparedCurve& baseline, const ComparedCurve& other);

/// Returns the curve of a series whose points have sizes; null without one.
const ComparedCurve* sized_curve(const ComparedResult& result, std::string_view series);

/// Returns the logarithms of the ratios to the baseline, at the common sizes between `low` and
/// `high`.
std::vector<double> log_ratios(const ComparedCurve& baseline, const ComparedCurve& other,
                               double low, double high);

/// Returns the logarithms of the ratios of `without` to `with`, at the sizes at which `with` has
/// the level.
std::vector<double> ratios_in_level(const ComparedCurve& with, const ComparedCurve& without,
                                    const Finding& level);

/// Turns an `unclear` verdict about two capacities with touching brackets into a change, if the
/// curves differ between the capacities and the curve of the smaller capacity is the higher one.
void look_at_curves(const ComparedResult& baseline, const ComparedResult& other,
                    const ComparedFinding& from, const ComparedFinding& to, Judgement& judged);

/// Returns the times of a series' levels, or their bandwidths, by number.
std::map<int, const ComparedFinding*> speeds_of(const ComparedResult& result,
                                                std::string_view series);

/// Returns the corresponding levels of two runs of one device, for each series whose numbers of
/// levels differ, or whose levels of one number are different levels.
LevelMaps level_maps(const ComparedResult& baseline, const ComparedResult& other);

/// Sets `level_name` of a run's findings: "L1", "L2", "far L2", "TLB reach", "memory". In a series
/// with steps, the steps determine the caches. Levels of other series have the name of the cache
/// that ends at the same size; in an imported series without sizes, that of the same number. A last
/// level that continues far beyond the caches is memory.
void name_levels(RunDigest& run, bool is_imported);

/// Series, level and name; for shares of a bar also view and label; and the index among findings of
/// equal keys.
using Key =
    std::tuple<std::string_view, int, std::string_view, std::string_view, std::string_view, int>;

/// Returns the findings of a run by key, with the baseline's numbers of their levels. A level
/// without a counterpart has a negative number.
std::map<Key, const ComparedFinding*> keyed(const ComparedResult& result, const LevelMaps& levels);

/// Timers of the points behind a finding: the clock in the kernel, whole launches, or both.
struct TimedBy {
  bool clock{false};
  bool launches{false};
  bool is_own{false};       ///< true for points of the finding's own series
  bool is_best{false};      ///< true for estimates from the best of many visits
  bool is_one_unit{false};  ///< true for work of one unit while the others idle
};

/// Timers of each series of a result, and of all series for findings whose series has no points.
/// The finding "load-throughput 4 B" uses the series "load-throughput".
class SeriesTimers {
 public:
  SeriesTimers(const ProbeResult& result, const DeviceInfo& device);

  /// Returns the timers of a finding's series. If the series uses both timers, returns only those
  /// of points whose time is within 5 % of the finding's, if any.
  [[nodiscard]] TimedBy of(const Finding& finding) const;

 private:
  struct TimedPoint {
    double seconds{0.0};
    bool is_clock{false};
    bool is_best{false};
    bool is_one_unit{false};
  };

  std::map<std::string, std::vector<TimedPoint>, std::less<>> by_series_{};
  TimedBy all_{};
};

/// Properties of a run, apart from its findings, that affect their errors.
struct Meanwhile {
  std::span<const Disturbance> disturbances{};  ///< according to its reference points
  bool is_virtual_cpu{false};                   ///< true on a CPU of a virtual machine
};

Meanwhile meanwhile_of(const Run& run, std::span<const Disturbance> disturbances);

/// Returns half the 95 % interval for influences on a finding that its samples do not show: changes
/// during the run according to the reference points, other processes for work of all cores, and the
/// page placement of a process. A logarithm, for shares a difference.
double disturbance_of(const Finding& finding, const ProbeResult& result, const TimedBy& timed,
                      const DeviceInfo& device, const Meanwhile& meanwhile);

}  // namespace clprobe
