// SPDX-License-Identifier: Apache-2.0
// Comparison of runs with a baseline: matching of findings, and verdicts. Pure. docs/compare.md
// explains the rules.
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

/// Result of comparing one finding. `different` is a clear change that is neither better nor worse,
/// such as another kind of step.
enum class Verdict { same, better, worse, different, unclear };

std::string_view to_word(Verdict verdict);

/// The calibrated rate of the core's clock in a run, in cycles per second.
struct CoreClock {
  double hertz{0.0};
  double low{0.0};  ///< 95 % interval of the calibration
  double high{0.0};
};

/// A finding, with errors that its own interval does not include.
struct ComparedFinding {
  Finding finding{};
  /// Relative widening of the interval, each side: the spread of the samples behind the finding.
  /// For a share, an absolute widening.
  double margin{0.0};
  /// Relative uncertainty of the clock's calibrated rate, for findings from ticks. All such
  /// findings of a run have the same error.
  double calibration{0.0};
  /// The core's clock, if the finding was measured in cycles, whatever its current unit.
  std::optional<CoreClock> clock{};
  /// For a size between two measured ones: logarithm of the largest ratio of neighbouring measured
  /// sizes around it; 0 if unknown.
  double step{0.0};
  /// Degrees of freedom of Student's t for an interval of the mean of several runs.
  std::size_t degrees{normal_degrees};
  /// Half-width of the 95 % interval for changes during the run, according to its reference points:
  /// a logarithm, for shares a difference.
  double disturbance{0.0};
  /// True on the CPU of a virtual machine. Other tenants may have used a part of the CPU and its
  /// memory for the whole run, which no interval of a single run includes.
  bool is_of_virtual_cpu{false};
  /// Value of the larger finding that this one is a part of, in the same unit; 0 if unknown or not
  /// a part.
  double whole{0.0};
  std::string series_title{};  ///< Series::title; may be empty
  std::string level_name{};    ///< "L2", "far L2", "memory"; empty if unknown
};

/// A point of a curve: its varying parameters as text, and its value in the curve's unit.
struct ComparedPoint {
  std::string key{};  ///< "working_set_bytes 1024"
  double value{0.0};
  double size{0.0};  ///< value of the only varying parameter if that is a number; otherwise 0
};

/// The points of one series that have a value, by key.
struct ComparedCurve {
  std::string series{};
  std::string unit{};                  ///< "seconds" per access, or "bytes_per_second"
  std::vector<std::string> varying{};  ///< names of the parameters in the keys
  Parameters settings{};               ///< parameters with the same value at all points
  bool is_follow_up{false};            ///< true if another run may omit the series
  std::vector<ComparedPoint> points{};
};

struct ComparedResult {
  std::string probe{};
  int method{0};                       ///< version of the measurement; 0: unknown
  std::vector<std::string> kernels{};  ///< SHA-256 of the kernel texts
  View view{};                         ///< chart of the curves
  Status status{Status::ok};
  std::string reason{};
  std::vector<ComparedFinding> findings{};
  std::vector<ComparedCurve> curves{};
};

/// The parts of a run that a comparison needs. A digest has a hundredth of the run's size, so that
/// a thousand runs fit in memory.
struct RunDigest {
  std::string file{};  ///< name for the caller's use
  std::string device{};
  std::string label{};  ///< user's name of the run
  std::string driver{};
  std::string uuid{};            ///< UUID of the device; empty if unknown
  std::string platform{};        ///< platform, with the backend from its version
  std::string platform_index{};  ///< "platform:device"
  std::string started{};
  DeviceType type{DeviceType::other};
  std::int64_t compute_units{0};
  std::string tool{};  ///< version and commit, or the tool of an imported run
  bool interrupted{false};
  std::size_t runs{1};    ///< number of runs in this digest
  std::string failure{};  ///< reason why the device could not be opened; empty for success
  std::vector<ComparedResult> results{};
};

/// Reason, in the middle of a sentence, why one run per side shows no change on the CPU of a
/// virtual machine.
inline constexpr std::string_view others_on_host =
    "other tenants of the virtual machine's host can change a value for a whole run";

/// Name of the section for the rate of the core's clock, which belongs to no probe.
inline constexpr std::string_view clock_section = "core clock";

RunDigest digest(const Run& run, std::string_view file);

/// Returns the differences of two runs of one device apart from their results: "another card of the
/// same model: UUID bb instead of aa", "driver 2 instead of 1"; empty if nothing is known.
std::vector<std::string> differing_origins(const RunDigest& baseline, const RunDigest& other);

/// Returns true if both results have the same version of the method. If an older document has no
/// version: if they share a kernel's text, or one has no kernels.
bool is_same_method(const ComparedResult& baseline, const ComparedResult& other);

/// Level numbers of a run to those of the baseline. Levels without a counterpart are absent.
using LevelMap = std::map<int, int>;
using LevelMaps = std::map<std::string_view, LevelMap>;  ///< by series

/// Returns the corresponding levels of two results.
///
/// Same device: only series whose numbers of levels differ, or whose levels of one number are
/// different levels. Two devices: all series. Levels of the same name correspond, levels of
/// different names never do. Of levels without names, the first corresponds to the first and memory
/// to memory, whatever their times. The levels between are matched in order by their times; equally
/// many are matched one to one.
LevelMaps paired_levels(const ComparedResult& baseline, const ComparedResult& other,
                        bool is_same_device);

/// Returns several runs of one device as one digest. Each finding is the mean of the runs (random
/// effects), with an interval that includes the variation between runs. Levels are matched to those
/// of a typical run. A single run is returned unchanged. Throws std::invalid_argument without runs.
RunDigest pool(std::span<const RunDigest> runs);

/// Maximum uncertainty of a verdict `same`, and the threshold for values without an interval.
inline constexpr double coarse_change = 0.25;

struct Judgement {
  Verdict verdict{Verdict::unclear};
  std::optional<double> ratio{};  ///< ratio to the baseline's value, if both are above 0
  std::string reason{};           ///< reason for the verdict, with numbers; may be empty
  /// 95 % interval of the judged ratio (of cycles, if `reason` says so), or of the difference of
  /// shares. Its ends may be 0 or infinite.
  std::optional<Interval> interval{};
  /// The largest change that the data do not exclude, as a share; absent for a change.
  std::optional<double> resolution{};
  /// Probability of such a distance if the true change is within the threshold.
  std::optional<double> p_value{};
  /// True if a value has no interval, so that `coarse_change` is the threshold.
  bool is_coarse{false};
  /// The verdict without the doubt about other tenants of a virtual machine's host, which makes the
  /// verdict `unclear`.
  std::optional<Verdict> left_open{};
  bool is_repeated{false};  ///< true for a change in cycles that another row shows in time
};

/// Judges the change from `baseline` to `other`. `threshold` is a share. If the whole 95 % interval
/// of the change is beyond the threshold, the verdict is a change. Otherwise the verdict is `same`,
/// or `unclear` if the interval's farther end is beyond `coarse_change`.
Judgement judge(const ComparedFinding& baseline, const ComparedFinding& other, double threshold);

/// Returns true if the finding is a size between two measured ones.
bool is_bracket(const Finding& finding);

/// Returns the logarithm of the step of the coarser of the two grids.
double bracket_step(const ComparedFinding& baseline, const ComparedFinding& other);

/// Converts a finding to cycles, without the error of the clock's calibration, or to time. Requires
/// the finding's clock.
ComparedFinding in_cycles(const ComparedFinding& compared);
ComparedFinding in_seconds(const ComparedFinding& compared);

/// Judges two runs of one device. Findings that were measured in cycles of the core are judged in
/// cycles, since errors of the calibration and different clock rates are compared on their own. If
/// the rates clearly differ, a time that does not follow the clock (that of memory) may instead be
/// the same in seconds.
Judgement judge_same_device(const ComparedFinding& baseline, const ComparedFinding& other,
                            double threshold);

/// A finding of a run, compared with the baseline's.
struct ComparedCell {
  const ComparedFinding* finding{nullptr};  ///< null without a matching finding
  Judgement judgement{};                    ///< empty in the baseline's own cell
};

/// A finding of the baseline, and its comparisons with all runs. Points into the digests.
struct ComparedRow {
  std::string probe{};
  const ComparedFinding* baseline{nullptr};
  std::vector<ComparedCell> cells{};  ///< by run
};

/// Reasons of `Unmatched` without further explanation.
inline constexpr std::string_view only_in_baseline = "only in the baseline";
inline constexpr std::string_view not_in_baseline = "not in the baseline";

/// A finding that only a run or only the baseline has.
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

/// The point-by-point comparison of one series of a run with the baseline's.
struct CurveSummary {
  std::size_t run{0};
  std::string probe{};
  std::string series{};
  std::string unit{};
  std::size_t matched{0};
  std::size_t only_baseline{0};
  std::size_t only_here{0};
  /// Median of the matched points; the other two are 5 % and 95 % quantiles.
  double median_ratio{0.0};
  double low_ratio{0.0};
  double high_ratio{0.0};
  std::string furthest{};  ///< key of the point with the ratio farthest from 1
  double furthest_ratio{0.0};
  std::string note{};  ///< differing settings, or the reason why no point matched
};

struct VerdictCounts {
  std::size_t same{0};
  std::size_t better{0};
  std::size_t worse{0};
  std::size_t different{0};
  std::size_t unclear{0};

  [[nodiscard]] std::size_t total() const { return same + better + worse + different + unclear; }
};

/// Adds one verdict to the counts.
void count(VerdictCounts& counts, Verdict verdict);

/// A cell of a comparison, by the indices of its row and run.
struct ComparedPlace {
  std::size_t row{0};
  std::size_t run{0};
};

struct Comparison {
  std::size_t baseline{0};  ///< index of the baseline
  /// True if each side has several runs, whose intervals include the variation between runs.
  bool are_several{false};
  double threshold{0.0};
  std::vector<ComparedRow> rows{};
  std::vector<CurveSummary> curves{};
  std::vector<Unmatched> unmatched{};
  std::vector<VerdictCounts> counts{};  ///< by run; all 0 for the baseline
  /// Findings that exist only in the comparison, such as the number of levels.
  std::vector<std::shared_ptr<const ComparedFinding>> made{};
};

/// Compares runs with a baseline. The digests must outlive the result. Throws std::out_of_range for
/// an invalid baseline.
Comparison compare(std::span<const RunDigest> runs, std::size_t baseline, double threshold);

/// Counts the verdicts of each run anew. A finding in time and in cycles of the core counts once.
void count_verdicts(Comparison& comparison);

/// Returns the sum of the verdicts of all runs.
VerdictCounts total_counts(const Comparison& comparison);

/// A part of the baseline's measurements that a run cannot confirm, and the reason.
struct MissingPart {
  std::size_t run{0};
  std::string probe{};   ///< empty: the whole run
  std::string series{};  ///< empty: the whole probe
  std::string reason{};
};

/// Returns the gaps that keep a comparison from passing as a check, for each run except the
/// baseline: a failed device, an interruption, probes and series of the baseline that the run did
/// not complete, or no judged finding at all. Independent of the verdicts.
std::vector<MissingPart> find_missing_parts(std::span<const RunDigest> runs,
                                            const Comparison& comparison);

/// Returns the changes of findings that remain significant among all findings of both sides, in all
/// runs. With one run per side, by Holm's procedure: the probability of any false change is at most
/// 5 %. With several runs per side, by the procedure of Benjamini and Hochberg: at most 5 % of the
/// changes are false on average, so that more of many real changes remain.
std::vector<ComparedPlace> find_sure_changes(const Comparison& comparison);

/// Returns the number of findings that these tests include.
std::size_t count_compared(const Comparison& comparison);

/// Returns the changes that would be significant if one run per side could show them
/// (`Judgement::left_open`).
std::vector<ComparedPlace> find_open_changes(const Comparison& comparison);

}  // namespace clprobe
