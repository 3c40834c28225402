// SPDX-License-Identifier: Apache-2.0
// What the parts of a comparison share besides its interface. Pure.
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

/// The result of a probe; null where the run has none.
const ComparedResult* result_of(const RunDigest& run, std::string_view probe);

/// Better, worse or different, by what the finding says is better.
Verdict direction_of(const Finding& finding, bool is_more);

/// True if a change of one device may belong to this run alone, so that only several runs per side
/// can show it.
bool passes_with_run(const ComparedFinding& baseline, const ComparedFinding& other);

/// Makes a change of one device unclear if there is one run per side and the change may belong to
/// this run, or to other tenants of a virtual machine's host.
void leave_to_several_runs(const ComparedFinding& baseline, const ComparedFinding& other,
                           Judgement& judged);

/// True if a finding has a value, or a word other than "unknown" and the like.
bool says_something(const Finding& finding);

inline bool is_change(Verdict verdict) {
  return verdict != Verdict::same && verdict != Verdict::unclear;
}

/// Doubt about findings of a series that were timed differently: events and the host's clock see
/// launches differently. Empty if both runs were timed alike.
std::string doubt_of_timers(const ComparedResult& baseline, const ComparedResult& other,
                            std::string_view series);

/// Two runs that found the rate of a clock in two ways. Against the host's clock it was found 30 %
/// too low, far beyond its interval (seen on an H200 whose events were refused for once).
std::string doubt_of_clock(const Finding& baseline, const Finding& other);

/// Reason why two runs with different methods give no verdict, with the versions of their tools.
std::string differing_methods(const RunDigest& baseline, const RunDigest& other);

/// True if the finding is a share, of which differences are compared and not ratios.
bool is_share(const Finding& finding);

/// True if its differences are judged as shares of its whole: it is a share, or a part of another
/// finding of its run.
bool is_part(const ComparedFinding& compared);

/// Converts a part of another finding to a share of `whole`, which is above 0.
ComparedFinding as_share(const ComparedFinding& compared, double whole);

/// Place of a finding on the line on which two of them are compared: the natural logarithm of its
/// value, or the value itself for a share.
struct Place {
  double value{0.0};
  double below{0.0};  ///< to the lower end of its 95 % interval, with all errors that are known
  double above{0.0};  ///< to the upper end; both may be infinite
  bool has_interval{false};  ///< whether the finding has an interval of its own
  std::size_t degrees{normal_degrees};
};

/// The one place where the error of a finding is put together. Needs a value, and of what is no
/// share one above 0.
Place locate(const ComparedFinding& compared);

/// From one finding to another, on their line.
struct Difference {
  double change{0.0};
  Interval interval{};  ///< 95 %
  std::size_t degrees{normal_degrees};

  /// The farther end: the largest change that the data leave possible.
  [[nodiscard]] double farthest() const;
  /// Distance of the end nearer to no change beyond `bound`; negative if it is not beyond.
  [[nodiscard]] double beyond(double bound) const;
  /// Probability that a change looks that large though it is not beyond `bound`.
  [[nodiscard]] double p_value(double bound) const;
};

Difference difference(const Place& from, const Place& to);

/// A point, and the time of its access where it has one that is above 0.
struct TimedPoint {
  const Point* point{nullptr};
  std::optional<Estimate> time{};
};

/// Returns the points of each series, in the order of the result.
std::vector<std::vector<TimedPoint>> points_by_series(const ProbeResult& result,
                                                      const DeviceInfo& device);

/// The curve of the points of one series, at least one. `is_rate`: values are bytes per second,
/// else seconds. `shown`: the parameter on the x axis of the probe's chart.
ComparedCurve curve_of(const std::vector<TimedPoint>& points, bool is_rate,
                       const std::string& shown);

/// A series of the baseline that another run measured less of, or not at all.
struct Cut {
  std::string series{};
  std::string reason{};
};

/// The series of which the other run has no point, less than half of the baseline's points or, of
/// one device, of its range of sizes. Without those that are measured only where others call for
/// it.
std::vector<Cut> find_cuts(const ComparedResult& baseline, const ComparedResult& other,
                           bool is_same_device);

/// One series of a run compared with the baseline's, point by point.
CurveSummary summarise_curve(std::size_t run, const std::string& probe,
                             const ComparedCurve& baseline, const ComparedCurve& other);

/// The curve of a series, whose points have sizes; null where there is none.
const ComparedCurve* sized_curve(const ComparedResult& result, std::string_view series);

/// Logarithms of the ratios to the baseline at the sizes above `low` and below `high` that both
/// curves have.
std::vector<double> log_ratios(const ComparedCurve& baseline, const ComparedCurve& other,
                               double low, double high);

/// Logarithms of the ratios of `without` to `with`, at the sizes at which `with` has the level.
std::vector<double> ratios_in_level(const ComparedCurve& with, const ComparedCurve& without,
                                    const Finding& level);

/// Makes two capacities a change that are `unclear` because their brackets touch, if the curves run
/// apart between the two, that of the smaller capacity above the other.
void look_at_curves(const ComparedResult& baseline, const ComparedResult& other,
                    const ComparedFinding& from, const ComparedFinding& to, Judgement& judged);

/// The times of a series' levels, or their bandwidths, by number.
std::map<int, const ComparedFinding*> speeds_of(const ComparedResult& result,
                                                std::string_view series);

/// For each series that has another number of levels than in the baseline, or another one in the
/// place of one of them. For two runs of one device.
LevelMaps level_maps(const ComparedResult& baseline, const ComparedResult& other);

/// Sets `level_name` of the findings of a run: "L1", "L2", "far L2", "TLB reach", "memory". The
/// levels of a series that has steps are caches by these; those of others, of any probe, are the
/// caches that end at the same size; of a series without sizes, in an imported run, those of the
/// same numbers. A last level is memory where it goes on far beyond the caches.
void name_levels(RunDigest& run, bool is_imported);

/// Series, level, name, for shares of a bar their view and label, and the how-manieth of its kind.
using Key =
    std::tuple<std::string_view, int, std::string_view, std::string_view, std::string_view, int>;

/// The findings of a run, with the levels that correspond to them in the baseline; a level that the
/// baseline does not have has a negative number.
std::map<Key, const ComparedFinding*> keyed(const ComparedResult& result, const LevelMaps& levels);

/// Timers of the points behind a finding: the clock in the kernel, whole launches, or both.
struct TimedBy {
  bool clock{false};
  bool launches{false};
  bool is_own{false};       ///< of points of the finding's own series
  bool is_best{false};      ///< by the best of a point's many visits, to which others only add
  bool is_one_unit{false};  ///< of what one unit does while the others idle
};

/// Timers of each series of a result ("load-throughput", for findings also "load-throughput 4 B"),
/// and of all series for findings whose series has no points of its own.
class SeriesTimers {
 public:
  SeriesTimers(const ProbeResult& result, const DeviceInfo& device);

  /// If both timers timed points of its series, returns that of the points which took as long as
  /// the finding.
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

/// Facts about a run besides its findings.
struct Meanwhile {
  std::span<const Disturbance> disturbances{};  ///< by its reference points
  bool is_virtual_cpu{false};                   ///< whether it is one of a CPU in a virtual machine
};

Meanwhile meanwhile_of(const Run& run, std::span<const Disturbance> disturbances);

/// Half a 95 % interval, on the line on which findings are compared (logarithms; of shares
/// themselves), of what changed while the run lasted: as the reference points saw it, and of what
/// all cores do together, by what others took of them all along; and of what is otherwise in the
/// next process, as pages lie.
double disturbance_of(const Finding& finding, const ProbeResult& result, const TimedBy& timed,
                      const DeviceInfo& device, const Meanwhile& meanwhile);

}  // namespace clprobe
