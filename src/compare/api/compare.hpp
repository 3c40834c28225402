// SPDX-License-Identifier: Apache-2.0
// Comparison of runs with a baseline: matching of findings, and verdicts (docs/compare.md). Results
// depend only on the arguments.
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

/// Result of comparing one finding. `different` is a clear change that is neither an improvement
/// nor a deterioration, such as another kind of step.
enum class Verdict { same, better, worse, different, unclear };

std::string_view to_word(Verdict verdict);

/// Calibrated rate of the core clock in a run, in cycles per second.
struct CoreClock {
  double hertz{0.0};
  double low{0.0};  ///< lower end of the 95 % interval of the calibration
  double high{0.0};
};

/// A finding of a run, with the errors that its own interval does not include.
struct ComparedFinding {
  Finding finding{};
  /// Relative widening of the interval on each side, from the spread of the samples that the
  /// finding is derived from. For a share, the widening is absolute.
  double margin{0.0};
  /// Relative uncertainty of the calibrated clock rate, for findings derived from ticks. All
  /// findings of one run that are derived from ticks have the same calibration error.
  double calibration{0.0};
  /// Core clock, if the finding was measured in cycles, even if the finding is now in another unit.
  std::optional<CoreClock> clock{};
  /// Logarithm of the largest ratio of neighbouring measured sizes around a finding that is a size
  /// between measured sizes; 0 if unknown or for other findings.
  double step{0.0};
  /// Degrees of freedom of Student's t, if the interval is that of the mean of several runs.
  std::size_t degrees{normal_degrees};
  /// Half-width of the 95 % interval for influences that the samples do not show, such as other
  /// programs (disturbance_of()). It is a logarithm of a ratio, or a difference for shares.
  double disturbance{0.0};
  /// True for a CPU of a virtual machine. Other tenants may use a part of the CPU and its memory
  /// for a whole run. The interval of a single run does not include this effect.
  bool is_of_virtual_cpu{false};
  /// Value of the larger finding that contains this finding as a part, in the same unit; 0 if
  /// unknown or if there is no larger finding.
  double whole{0.0};
  std::string series_title{};  ///< Series::title; may be empty
  std::string level_name{};    ///< "L2", "far L2", "memory"; empty if unknown
};

/// A point of a curve: its varying parameters as text, and its value in the unit of the curve.
struct ComparedPoint {
  std::string key{};  ///< parameters as text: "working_set_bytes 1024"
  double value{0.0};
  double size{0.0};  ///< value of the parameter on the x axis; 0 if there is none
};

/// The points of one series that have a value, sorted by key.
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
  int method{0};                       ///< version of the measurement (Probe::method); 0: unknown
  std::vector<std::string> kernels{};  ///< SHA-256 of the kernel texts
  View view{};                         ///< chart of the curves
  Status status{Status::ok};
  std::string reason{};
  std::vector<ComparedFinding> findings{};
  std::vector<ComparedCurve> curves{};
};

/// The parts of a run that a comparison needs. A digest needs a hundredth of the memory of a run,
/// so that a thousand runs fit in memory.
struct RunDigest {
  std::string file{};  ///< name of the run file, which only the caller interprets
  std::string device{};
  std::string label{};  ///< the user's name for the run; may be empty
  std::string driver{};
  std::string uuid{};            ///< UUID of the device; empty if unknown
  std::string platform{};        ///< platform and CL_DEVICE_VERSION, which may name the backend
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

/// Reason, as part of a sentence, why one baseline run and one new run cannot show a change on the
/// CPU of a virtual machine.
inline constexpr std::string_view others_on_host =
    "other tenants of the virtual machine's host can change a value for a whole run";

/// Name of the section for the rate of the core clock, which belongs to no probe.
inline constexpr std::string_view clock_section = "core clock";

RunDigest digest(const Run& run, std::string_view file);

/// Returns true for two devices of one model. The names that different versions of PoCL give to one
/// CPU differ in their prefix.
bool are_of_one_device(const RunDigest& a, const RunDigest& b);

/// Returns the differences between two runs of one device, except in their results: "another card
/// of the same model: UUID bb instead of aa", "driver 2 instead of 1". Empty if no difference is
/// known, and for runs of two devices.
std::vector<std::string> differing_origins(const RunDigest& baseline, const RunDigest& other);

/// Returns true if both results have the same version of the method. If an older document has no
/// version, returns true if the results share a kernel text or if one result has no kernels.
bool is_same_method(const ComparedResult& baseline, const ComparedResult& other);

/// Map from the level numbers of a run to those of the baseline. Levels without a counterpart are
/// absent.
using LevelMap = std::map<int, int>;
using LevelMaps = std::map<std::string_view, LevelMap>;  ///< level maps by series

/// Returns the corresponding levels of two results of one probe.
///
/// For one device, levels are matched in order by their times. The result contains only series in
/// which the two runs number their levels differently.
///
/// For two devices, the result contains all common series. Levels with equal names correspond;
/// levels with different names never do. Among levels without names, the first levels correspond,
/// and so do the memory levels, whatever their times. Levels between them are matched in order, so
/// that the times of each pair are as close as possible.
LevelMaps paired_levels(const ComparedResult& baseline, const ComparedResult& other,
                        bool is_same_device);

/// Returns the digest of several runs of one device, with the findings and levels of a typical run.
/// A value that more than half of the runs have is their mean (random effects; the median for
/// sizes), with an interval that includes the variation between runs. A single run is returned
/// unchanged. Throws std::invalid_argument if `runs` is empty.
RunDigest pool(std::span<const RunDigest> runs);

/// Maximum uncertainty for a verdict `same`, and threshold for values without an interval, as a
/// share of the value. A larger threshold of the comparison replaces both.
inline constexpr double coarse_change = 0.25;

struct Judgement {
  Verdict verdict{Verdict::unclear};
  /// `other` divided by `baseline`, if both values are above 0; absent for shares. The ratio is
  /// that of cycles if `is_in_cycles`.
  std::optional<double> ratio{};
  std::string reason{};  ///< reason for the verdict, with numbers; may be empty
  /// 95 % interval of `ratio`, or of the difference of shares. An end may be 0 or infinite.
  std::optional<Interval> interval{};
  /// Largest change that the data do not exclude, as a share; absent if the verdict is a change.
  std::optional<double> resolution{};
  /// Probability of a distance at least this large if the true change is within the threshold.
  std::optional<double> p_value{};
  /// True if a value has no interval, so that the threshold is at least `coarse_change`.
  bool is_coarse{false};
  /// The verdict that would hold without other tenants of a virtual machine's host. Present if the
  /// doubt about other tenants makes the verdict `unclear`.
  std::optional<Verdict> left_open{};
  bool is_in_cycles{false};  ///< true if cycles are judged, but the values have another unit
  bool is_repeated{false};   ///< true for a change in cycles that another row has in seconds
};

/// Judges the change from `baseline` to `other`. `threshold` is a share of the value. The verdict
/// is a change if the whole 95 % interval of the change is beyond the threshold. Otherwise it is
/// `same`, or `unclear` if the end farther from 0 is beyond both `threshold` and `coarse_change`.
Judgement judge(const ComparedFinding& baseline, const ComparedFinding& other, double threshold);

/// Returns true if the finding is a size that lies between two measured sizes.
bool is_bracket(const Finding& finding);

/// Returns the larger step of two grids of measured sizes, as a logarithm; log(1.25) if unknown.
double bracket_step(const ComparedFinding& baseline, const ComparedFinding& other);

/// Returns a finding converted to cycles or to seconds. The conversion to cycles removes the error
/// of the clock's calibration. Requires the finding's clock.
ComparedFinding in_cycles(const ComparedFinding& compared);
ComparedFinding in_seconds(const ComparedFinding& compared);

/// Judges a finding of two runs of one device. Findings measured in core cycles are judged in
/// cycles, since clock rates and calibration errors are compared separately. If the clock rates
/// clearly differ, a time may instead be `same` in seconds: memory latency does not depend on the
/// core clock. A change that one baseline run and one new run cannot confirm becomes `unclear`.
Judgement judge_same_device(const ComparedFinding& baseline, const ComparedFinding& other,
                            double threshold);

/// A finding of a run, compared with the matching finding of the baseline.
struct ComparedCell {
  const ComparedFinding* finding{nullptr};  ///< null without a matching finding
  Judgement judgement{};  ///< empty for the baseline, and if a common row has the verdict
};

/// A finding of the baseline, or a headline that the baseline lacks (adopt_headlines()), in all
/// runs. Pointers lead to digests or to Comparison::made.
struct ComparedRow {
  std::string probe{};
  const ComparedFinding* baseline{nullptr};
  std::vector<ComparedCell> cells{};  ///< one cell per run
};

/// Reasons of an `Unmatched` finding for which no further explanation is known.
inline constexpr std::string_view only_in_baseline = "only in the baseline";
inline constexpr std::string_view not_in_baseline = "not in the baseline";

/// A finding that only the run or only the baseline has, or, without a name, an unmatched probe.
struct Unmatched {
  std::size_t run{0};
  std::string probe{};
  std::string series{};
  std::string name{};
  std::optional<int> level{};
  std::string reason{};
  std::string series_title{};  ///< as in ComparedFinding
  std::string level_name{};
};

/// Point-by-point comparison of one series of a run with the same series of the baseline.
struct CurveSummary {
  std::size_t run{0};
  std::string probe{};
  std::string series{};
  std::string unit{};
  std::size_t matched{0};
  std::size_t only_baseline{0};
  std::size_t only_here{0};
  /// Median of the ratios of all matched points. `low_ratio` is the 5 % quantile, `high_ratio` the
  /// 95 % quantile.
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

/// A cell of a comparison: the indices of its row and its run.
struct ComparedPlace {
  std::size_t row{0};
  std::size_t run{0};
};

struct Comparison {
  std::size_t baseline{0};  ///< index of the baseline
  /// True if several baseline runs are compared with several new runs. The intervals then include
  /// the variation between runs.
  bool are_several{false};
  double threshold{0.0};
  std::vector<ComparedRow> rows{};
  std::vector<CurveSummary> curves{};
  std::vector<Unmatched> unmatched{};
  std::vector<VerdictCounts> counts{};  ///< counts of each run; all 0 for the baseline
  /// Findings that exist only in the comparison, such as a number of levels.
  std::vector<std::shared_ptr<const ComparedFinding>> made{};
};

/// Compares all runs with the run `runs[baseline]`. The digests must outlive the result. Throws
/// std::out_of_range for an invalid `baseline`.
Comparison compare(std::span<const RunDigest> runs, std::size_t baseline, double threshold);

/// Recounts the verdicts of each run, and sets Judgement::is_repeated. A finding that is given in
/// time and in core cycles, with verdicts of one kind, counts once.
void count_verdicts(Comparison& comparison);

/// Returns the sum of the verdicts of all runs.
VerdictCounts total_counts(const Comparison& comparison);

/// A part of the baseline's measurements that a run cannot confirm, and the reason why not.
struct MissingPart {
  std::size_t run{0};
  std::string probe{};   ///< probe of the gap; empty: the whole run
  std::string series{};  ///< series of the gap; empty: the whole probe
  std::string reason{};
};

/// Returns the gaps because of which a comparison must not pass as a check, for each run except the
/// baseline. Gaps are: a failed device, an interruption, a probe, series or headline of the
/// baseline that the run did not complete or that cannot be compared, mostly `unclear` headlines,
/// and a run without any finding of the baseline. A change is not a gap.
std::vector<MissingPart> find_missing_parts(std::span<const RunDigest> runs,
                                            const Comparison& comparison);

/// Returns the changes that are significant among all compared findings of all runs. With one
/// baseline run and one new run, Holm's procedure limits the probability of any false change to 5
/// %. With several runs, the procedure of Benjamini and Hochberg limits the mean share of false
/// changes to 5 %. It retains more changes if many are real.
std::vector<ComparedPlace> find_sure_changes(const Comparison& comparison);

/// Returns the number of findings that the tests of find_sure_changes() include.
std::size_t count_compared(const Comparison& comparison);

/// Returns the changes whose verdict is only `unclear` because of other tenants of a virtual
/// machine's host (`Judgement::left_open`), and that would otherwise be significant.
std::vector<ComparedPlace> find_open_changes(const Comparison& comparison);

}  // namespace clprobe
