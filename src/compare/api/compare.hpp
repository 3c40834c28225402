// SPDX-License-Identifier: Apache-2.0
// Runs set beside a baseline: which findings belong together, and whether they differ. Pure. The
// rules and their reasons are in docs/compare.md.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "clprobe/run.hpp"

namespace clprobe {

/// Result of comparing one finding. `different` is a clear change of which nobody can say
/// whether it is good, such as another kind of step.
enum class Verdict { same, better, worse, different, unclear };

std::string_view to_word(Verdict verdict);

/// The rate of the core's clock as the run calibrated it, in cycles a second.
struct CoreClock {
  double hertz{0.0};
  double low{0.0};  ///< 95 % interval of the calibration
  double high{0.0};
};

/// A finding, with errors that its own interval does not hold.
struct ComparedFinding {
  Finding finding{};
  /// Relative widening of the interval, each side: the spread of the samples behind it. If the
  /// value is a share, in shares of its whole.
  double margin{0.0};
  /// Relative uncertainty of the clock's calibrated rate, for findings made from ticks. All such
  /// findings of a run are off by the same factor.
  double calibration{0.0};
  /// The core's clock, if the finding was measured in cycles, whatever its unit is now.
  std::optional<CoreClock> clock{};
  /// For a size between two measured ones: logarithm of the largest ratio of neighbouring measured
  /// sizes around it; 0 if the sizes are unknown.
  double step{0.0};
  /// Degrees of freedom of Student's t, if the interval is that of the mean of several runs.
  std::size_t degrees{normal_degrees};
  /// Half the width of an interval of what changed while the run lasted, as its reference points
  /// saw it: on the line on which findings are compared (logarithms; of shares themselves).
  double disturbance{0.0};
  /// True on the CPU of a virtual machine: other tenants may have used a part of the CPU and its
  /// memory throughout the run. No interval of one run holds that.
  bool is_of_virtual_cpu{false};
  /// Value of the finding that this one is a part of, in the same unit; 0 if there is none or it is
  /// unknown.
  double whole{0.0};
  std::string series_title{};  ///< Series::title; empty where the probe gives none
  std::string level_name{};    ///< "L2", "far L2", "memory"; empty where it is not known
};

/// A point of a curve: its varying parameters as text, and its value in the curve's unit.
struct ComparedPoint {
  std::string key{};  ///< "working_set_bytes 1024"
  double value{0.0};
  double size{0.0};  ///< of the only varying parameter, where that is one number; else 0
};

/// The points of one series that have a value, by key.
struct ComparedCurve {
  std::string series{};
  std::string unit{};                  ///< "seconds" an access, or "bytes_per_second"
  std::vector<std::string> varying{};  ///< the parameters in the keys
  Parameters settings{};               ///< the parameters that are the same at every point
  bool is_follow_up{false};            ///< another run may have had no reason to measure it
  std::vector<ComparedPoint> points{};
};

struct ComparedResult {
  std::string probe{};
  int method{0};                       ///< version of what the probe measures; 0: not stated
  std::vector<std::string> kernels{};  ///< SHA-256 of their texts
  View view{};                         ///< how its curves are drawn
  Status status{Status::ok};
  std::string reason{};
  std::vector<ComparedFinding> findings{};
  std::vector<ComparedCurve> curves{};
};

/// The parts of a run that a comparison needs: a hundredth of its size, so that a thousand runs
/// fit.
struct RunDigest {
  std::string file{};  ///< where it came from; the caller's
  std::string device{};
  std::string label{};  ///< the user's name of the run
  std::string driver{};
  std::string uuid{};            ///< of the card; empty where it is unknown
  std::string platform{};        ///< with what its version says of the backend
  std::string platform_index{};  ///< "platform:device"
  std::string started{};
  DeviceType type{DeviceType::other};
  std::int64_t compute_units{0};
  std::string tool{};  ///< version and commit, or what an imported run was made by
  bool interrupted{false};
  std::size_t runs{1};    ///< how many it was made of
  std::string failure{};  ///< why the device could not be opened; empty when it was
  std::vector<ComparedResult> results{};
};

/// Reason, in the middle of a sentence, why one run per side on the CPU of a virtual machine shows
/// no change.
inline constexpr std::string_view others_on_host =
    "other tenants of the virtual machine's host can change a value for a whole run";

/// In the place of a probe: what holds for the run as a whole, the rate of the core's clock.
inline constexpr std::string_view clock_section = "core clock";

RunDigest digest(const Run& run, std::string_view file);

/// Returns the differences of two runs besides their results: "another card of the same model: UUID
/// bb instead of aa", "driver 2 instead of 1"; empty where nothing is known.
std::vector<std::string> differing_origins(const RunDigest& baseline, const RunDigest& other);

/// True if the two measured the same thing, by the versions of their methods. If an older
/// document states none, by whether they have a kernel's text in common or one states no kernels.
bool is_same_method(const ComparedResult& baseline, const ComparedResult& other);

/// A level of the run to the baseline's; absent: the baseline has none.
using LevelMap = std::map<int, int>;
using LevelMaps = std::map<std::string_view, LevelMap>;  ///< by series

/// The levels that correspond, for runs of one device or of two. Of one device only of series that
/// have another number of levels than in the baseline, or another one in the place of one of them.
/// Of two devices, for each series: levels of one name correspond, those of two names never do; of
/// what has no name the first corresponds to the first and memory to memory, however far apart
/// their times are; those between, in order, to those whose times are nearest: of as many levels,
/// the n-th to the n-th.
LevelMaps paired_levels(const ComparedResult& baseline, const ComparedResult& other,
                        bool is_same_device);

/// Several runs of one device as one: each finding as the mean of the runs (random effects), with
/// an interval that holds what differs from run to run. Their levels are matched to those of a
/// typical one of them. Throws std::invalid_argument for no runs; one run is itself.
RunDigest pool(std::span<const RunDigest> runs);

/// A change that could have been missed beyond this says nothing, and this is the threshold of
/// values without an interval.
inline constexpr double coarse_change = 0.25;

struct Judgement {
  Verdict verdict{Verdict::unclear};
  std::optional<double> ratio{};  ///< to the baseline's value; where both are above 0
  std::string reason{};           ///< why this verdict, with the numbers; empty: there is none
  /// 95 % interval of the ratio that was judged (of cycles, where `reason` says so); of shares that
  /// of the difference. Its ends may be 0 or infinite.
  std::optional<Interval> interval{};
  /// The largest change that could have been missed, as a share; not where there is a change.
  std::optional<double> resolution{};
  /// Probability of such a distance if nothing changed by more than the threshold.
  std::optional<double> p_value{};
  bool is_coarse{false};  ///< a value has no interval, and was judged by `coarse_change`
  /// The change that it would be if one run a side could tell it from what others on the host of a
  /// virtual machine do; the verdict is `unclear` then.
  std::optional<Verdict> left_open{};
  bool is_repeated{false};  ///< a change in cycles that another row has in time
};

/// Judges if `other` differs from `baseline`. `threshold` is a share. If the 95 % interval of the
/// change lies beyond it as a whole, there is a change; else the two are the same as far as the
/// interval's farther end, or unclear where that is beyond `coarse_change`.
Judgement judge(const ComparedFinding& baseline, const ComparedFinding& other, double threshold);

/// True if the finding is a size between two measured ones.
bool is_bracket(const Finding& finding);

/// The logarithm of the step of the coarser of the two grids.
double bracket_step(const ComparedFinding& baseline, const ComparedFinding& other);

/// Converts a finding to cycles, without the calibration of the clock, or to time. Both need its
/// clock.
ComparedFinding in_cycles(const ComparedFinding& compared);
ComparedFinding in_seconds(const ComparedFinding& compared);

/// Judges two runs of one device. Findings measured in cycles of the core are judged in cycles,
/// whatever their unit: the error of a calibration, and a clock that ran at another rate, are
/// no change of it, and are compared by themselves. Only where the rates are clearly apart, a time
/// that does not follow the clock (that of memory) may stay the same in seconds instead.
Judgement judge_same_device(const ComparedFinding& baseline, const ComparedFinding& other,
                            double threshold);

/// One finding of one run beside the baseline's.
struct ComparedCell {
  const ComparedFinding* finding{nullptr};  ///< null where the run has none that matches
  Judgement judgement{};                    ///< nothing of interest in the baseline's own cell
};

/// A finding of the baseline, and what every run says of it. Points into the digests.
struct ComparedRow {
  std::string probe{};
  const ComparedFinding* baseline{nullptr};
  std::vector<ComparedCell> cells{};  ///< by run
};

/// Reasons of `Unmatched` where nothing more is to be said.
inline constexpr std::string_view only_in_baseline = "only in the baseline";
inline constexpr std::string_view not_in_baseline = "not in the baseline";

/// A finding that only one of a run and the baseline has.
struct Unmatched {
  std::size_t run{0};
  std::string probe{};
  std::string series{};
  std::string name{};
  std::optional<int> level{};
  std::string reason{};
  std::string series_title{};  ///< as of ComparedFinding
  std::string level_name{};
};

/// One series of one run beside the baseline's, point by point.
struct CurveSummary {
  std::size_t run{0};
  std::string probe{};
  std::string series{};
  std::string unit{};
  std::size_t matched{0};
  std::size_t only_baseline{0};
  std::size_t only_here{0};
  double median_ratio{0.0};  ///< of the matched points; the others are 5 % and 95 % quantiles
  double low_ratio{0.0};
  double high_ratio{0.0};
  std::string furthest{};  ///< key of the point whose ratio is furthest from 1
  double furthest_ratio{0.0};
  std::string note{};  ///< settings that differ, or why nothing matched
};

struct VerdictCounts {
  std::size_t same{0};
  std::size_t better{0};
  std::size_t worse{0};
  std::size_t different{0};
  std::size_t unclear{0};

  [[nodiscard]] std::size_t total() const { return same + better + worse + different + unclear; }
};

/// Counts one more.
void count(VerdictCounts& counts, Verdict verdict);

/// A cell of a comparison.
struct ComparedPlace {
  std::size_t row{0};
  std::size_t run{0};
};

struct Comparison {
  std::size_t baseline{0};  ///< which of the digests
  bool are_several{false};  ///< each side is several runs, whose intervals hold what runs differ by
  double threshold{0.0};
  std::vector<ComparedRow> rows{};
  std::vector<CurveSummary> curves{};
  std::vector<Unmatched> unmatched{};
  std::vector<VerdictCounts> counts{};  ///< by run; the baseline's are 0
  /// Findings made for rows that no run has, such as the number of levels.
  std::vector<std::shared_ptr<const ComparedFinding>> made{};
};

/// The digests must outlive what is returned. Throws std::out_of_range for a baseline that is none
/// of them.
Comparison compare(std::span<const RunDigest> runs, std::size_t baseline, double threshold);

/// Counts the verdicts of each run anew. A finding in time and in cycles of the core counts once.
void count_verdicts(Comparison& comparison);

/// The verdicts of all runs together.
VerdictCounts total_counts(const Comparison& comparison);

/// A part of the baseline's measurements about which nothing can be said, and why.
struct MissingPart {
  std::size_t run{0};
  std::string probe{};   ///< empty: the run as a whole
  std::string series{};  ///< empty: all of the probe
  std::string reason{};
};

/// Returns what keeps a comparison from passing as a check: for each run but the baseline, that
/// its device failed, that it was interrupted, the probes and series of the baseline that it did
/// not measure to their end, and that no finding was judged at all. Whatever the verdicts say.
std::vector<MissingPart> find_missing_parts(std::span<const RunDigest> runs,
                                            const Comparison& comparison);

/// The changes of findings that both sides have, in all runs, that hold when all of these findings
/// are looked at together. With one run a side by Holm's procedure: the chance that any of them is
/// none is at most 5 %. With several a side by Benjamini and Hochberg's: where nothing changed that
/// chance is the same, and of many that did change as many more are seen.
std::vector<ComparedPlace> find_sure_changes(const Comparison& comparison);

/// The number of findings that these tests look at together.
std::size_t count_compared(const Comparison& comparison);

/// Returns the changes that would hold if one run per side could show them
/// (`Judgement::left_open`).
std::vector<ComparedPlace> find_open_changes(const Comparison& comparison);

}  // namespace clprobe
