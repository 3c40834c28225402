// SPDX-License-Identifier: Apache-2.0
// Declarations for all source files of the comparison. Results depend only on the arguments.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "compare/api/compare.hpp"

namespace clprobe {

/// Returns the result of a probe; null if the run lacks the probe.
const ComparedResult* result_of(const RunDigest& run, std::string_view probe);

/// Returns `better` or `worse` for a change of the value, by the finding's direction; `different`
/// for a finding without a direction.
Verdict direction_of(const Finding& finding, bool is_more);

/// Returns true if the value varies from run to run (Role::passing), and the baseline or the other
/// finding comes from one run. Only several runs on both sides can confirm such a change.
bool passes_with_run(const ComparedFinding& baseline, const ComparedFinding& other);

/// Makes a change `unclear` that one baseline run and one new run cannot confirm. The cause may be
/// an effect of one run, or other tenants of a virtual machine's host.
void leave_to_several_runs(const ComparedFinding& baseline, const ComparedFinding& other,
                           Judgement& judged);

/// Returns true if a finding has a value, or a label that states a result (not "unknown" or a
/// similar word).
bool says_something(const Finding& finding);

inline bool is_change(Verdict verdict) {
  return verdict != Verdict::same && verdict != Verdict::unclear;
}

/// Returns the reason to doubt a comparison of a series if the two runs used different timers, else
/// an empty string. Event times and host times of the same launch differ.
std::string doubt_of_timers(const ComparedResult& baseline, const ComparedResult& other,
                            std::string_view series);

/// Returns the doubt about clock rates calibrated in two ways; else an empty string. On an H200
/// without event times, calibration against the host's clock gave a rate that was 30 % too low.
std::string doubt_of_clock(const Finding& baseline, const Finding& other);

/// Returns the reason why two runs with different methods get no verdict, with the versions of
/// their tools.
std::string differing_methods(const RunDigest& baseline, const RunDigest& other);

/// Returns true for a share. Comparisons judge the differences of shares instead of their ratios.
bool is_share(const Finding& finding);

/// Returns true if a finding is judged by differences as shares of a whole. This holds for shares,
/// and for findings that are a part of another finding.
bool is_part(const ComparedFinding& compared);

/// Returns a part of another finding as a share of `whole`, which must be above 0.
ComparedFinding as_share(const ComparedFinding& compared, double whole);

/// Position of a finding on the axis of comparisons: the natural logarithm of its value, or the
/// value of a share.
struct Position {
  double value{0.0};
  /// Distance from `value` to the lower end of the 95 % interval, including all known errors.
  double below{0.0};
  double above{0.0};         ///< distance to the upper end; `below` and `above` may be infinite
  bool has_interval{false};  ///< true if the finding itself has an interval
  std::size_t degrees{normal_degrees};
};

/// Returns the position of a finding, including all of its errors. The finding must have a value,
/// which must be above 0 unless the finding is a share.
Position locate(const ComparedFinding& compared);

/// Difference of two findings on the axis of comparisons.
struct Difference {
  double change{0.0};
  Interval interval{};  ///< 95 % interval of the change
  std::size_t degrees{normal_degrees};

  /// Returns the distance from 0 to the farther end of the interval: the largest change that the
  /// data do not exclude.
  [[nodiscard]] double farthest() const;
  /// Returns the distance by which the end nearest to 0 exceeds `bound`; negative if that end is
  /// within `bound`.
  [[nodiscard]] double beyond(double bound) const;
  /// Returns the probability of a difference this large if the true change is within `bound`.
  [[nodiscard]] double p_value(double bound) const;
};

Difference difference(const Position& from, const Position& to);

/// A point, and the time of one access; nothing if the time is not above 0.
struct TimedPoint {
  const Point* point{nullptr};
  std::optional<Estimate> time{};
};

/// Returns the points of each series, in the order of the result.
std::vector<std::vector<TimedPoint>> points_by_series(const ProbeResult& result,
                                                      const DeviceInfo& device);

/// Returns the curve of one series. `points` contains at least one point. If `is_rate`, values are
/// bytes per second instead of seconds. `shown` is the parameter on the x axis of the probe's
/// chart.
ComparedCurve curve_of(const std::vector<TimedPoint>& points, bool is_rate,
                       const std::string& shown);

/// A series of the baseline that another run measured only in part, or not at all.
struct Cut {
  std::string series{};
  std::string reason{};
};

/// Returns the series that the other run measured only in part. Such a series has no point or fewer
/// than half of the baseline's points. For one device, its largest size may also be below two
/// thirds of the baseline's largest size. Excludes series that are measured only if another series
/// requires them.
std::vector<Cut> find_cuts(const ComparedResult& baseline, const ComparedResult& other,
                           bool is_same_device);

/// Returns the point-by-point comparison of one series of a run with the same series of the
/// baseline.
CurveSummary summarise_curve(std::size_t run, const std::string& probe,
                             const ComparedCurve& baseline, const ComparedCurve& other);

/// Returns the curve of a series whose points all have sizes; null if there is no such curve.
const ComparedCurve* sized_curve(const ComparedResult& result, std::string_view series);

/// Returns the logarithms of the ratios of `other` to `baseline`, at the common sizes between `low`
/// and `high`.
std::vector<double> log_ratios(const ComparedCurve& baseline, const ComparedCurve& other,
                               double low, double high);

/// Returns the number of sizes that belong to `level` in `curve`.
std::size_t points_in_level(const ComparedCurve& curve, const Finding& level);

/// Returns the logarithms of the ratios of `without` to `with`, at the sizes that belong to `level`
/// in `with`.
std::vector<double> ratios_in_level(const ComparedCurve& with, const ComparedCurve& without,
                                    const Finding& level);

/// Turns an `unclear` verdict about two capacities with touching brackets into a change, if the
/// curves differ between the two capacities. The run with the smaller capacity must have the higher
/// curve there.
void look_at_curves(const ComparedResult& baseline, const ComparedResult& other,
                    const ComparedFinding& from, const ComparedFinding& to, Judgement& judged);

/// Returns the times of a series' levels, or the bandwidths, by level number.
std::map<int, const ComparedFinding*> speeds_of(const ComparedResult& result,
                                                std::string_view series);

/// Returns the corresponding levels of two runs of one device. The result contains only series in
/// which the two runs number their levels differently.
LevelMaps level_maps(const ComparedResult& baseline, const ComparedResult& other);

/// Sets `level_name` of a run's findings: "L1", "L2", "far L2", "TLB reach", "memory". In a series
/// with steps, the steps determine the caches. In other series, a level has the name of the cache
/// that ends at the same size. In an imported series without sizes, a level has the name of the
/// level with the same number. A last level that continues far beyond all caches is memory.
void name_levels(RunDigest& run, bool is_imported);

/// Returns the names of a series' levels by number, as `name_levels` chooses them. A level of
/// unknown kind has an empty name.
std::map<int, std::string> level_names(const Run& run, std::string_view probe,
                                       std::string_view series);

/// Key of a finding: series, level, name, view, label (both for shares of a bar; view also for the
/// size of a finding "at 1 GiB"), and a counter of findings whose other elements are equal.
using Key =
    std::tuple<std::string_view, int, std::string_view, std::string_view, std::string_view, int>;

/// Returns the findings of a run by key. Level numbers in keys are those of the baseline; a level
/// without a counterpart has a negative number.
std::map<Key, const ComparedFinding*> keyed(const ComparedResult& result, const LevelMaps& levels);

/// Levels of one series in which two runs differ, combined to one finding per run.
struct LevelSets {
  ComparedFinding baseline{};
  ComparedFinding other{};
  /// `different` if the curves differ at the sizes of a level that one run lacks; `same` if they
  /// agree at the sizes of all such levels, so that only the division into levels differs;
  /// otherwise `unclear`.
  Judgement judgement{};
  std::set<int> lost{};  ///< baseline levels that have no counterpart
  /// Baseline levels that have no counterpart, or are next to a level of either run without one.
  std::set<int> touched{};
};

/// Returns the series of `maps` in which a level has no counterpart.
std::vector<LevelSets> differing_levels(const ComparedResult& baseline, const ComparedResult& other,
                                        const LevelMaps& maps, bool is_same_device);

/// Returns true if the baseline's finding is of a level in LevelSets::touched, and the levels may
/// differ. Times and bandwidths are excluded, since they do not depend on neighbouring levels.
bool rests_on_differing(const Finding& finding, const std::vector<LevelSets>& sets);

/// Returns the verdict of a finding of a level that only the baseline's division has, although the
/// curves agree at its sizes; nothing for other findings.
std::optional<Judgement> judge_undivided(const Finding& finding,
                                         const std::vector<LevelSets>& sets);

/// Timers of the points from which a finding is derived: in-kernel clock, whole launches, or both.
struct TimedBy {
  bool clock{false};
  bool launches{false};
  bool is_own{false};       ///< true if the points belong to the finding's own series
  bool is_best{false};      ///< true if the estimates are those of the best of many visits
  bool is_one_unit{false};  ///< true if only one compute unit works
};

/// Timers of each series of a result. A finding whose series has no points uses the timers of all
/// series. A series name is cut at the first blank: the finding "load-throughput 4 B" uses the
/// series "load-throughput".
class SeriesTimers {
 public:
  SeriesTimers(const ProbeResult& result, const DeviceInfo& device);

  /// Returns the timers of the points of a finding's series. Considers only points whose time is
  /// within 5 % of the finding's value, if such points exist.
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

/// Properties of a run, other than its findings, that affect the errors of findings.
struct Meanwhile {
  /// Disturbances according to the run's reference points.
  std::span<const Disturbance> disturbances{};
  /// True if the device is a CPU of a virtual machine.
  bool is_virtual_cpu{false};
};

Meanwhile meanwhile_of(const Run& run, std::span<const Disturbance> disturbances);

/// Returns half the width of the 95 % interval for influences on a finding that its samples do not
/// show. These are changes during the run according to the reference points, other processes (for
/// work of all cores), and the page placement of a process. The result is the logarithm of a ratio,
/// or a difference for shares.
double disturbance_of(const Finding& finding, const ProbeResult& result, const TimedBy& timed,
                      const DeviceInfo& device, const Meanwhile& meanwhile);

}  // namespace clprobe
