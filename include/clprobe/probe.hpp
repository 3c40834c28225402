// SPDX-License-Identifier: Apache-2.0
// Interface of a probe: one value with options, series, findings, a view and free functions. Code
// outside a probe's folder depends on this interface, never on an individual probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clprobe/agreement.hpp"
#include "clprobe/budget.hpp"
#include "clprobe/option.hpp"
#include "clprobe/run.hpp"
#include "clprobe/units.hpp"
#include "profile/api/bundle.hpp"

/// Value of `Probe::trace`: the given function, or null in a build without simulation.
#if CLPROBE_SIMULATION
#define CLPROBE_TRACE(function) function
#else
#define CLPROBE_TRACE(function) nullptr
#endif

namespace clprobe {

class Session;         // declared in device.hpp; only Probe::open uses it
struct SimulatedWork;  // declared in simulated.hpp
namespace simulator {
struct Machine;    // declared in machine.hpp
struct TraceFile;  // declared in simulator.hpp
}  // namespace simulator

/// A cache of global memory.
struct KnownLevel {
  int level{0};  ///< level of global memory, numbered from 1 as in `latency`
  Bytes capacity{};

  friend bool operator==(const KnownLevel&, const KnownLevel&) = default;
};

/// Facts about the device from earlier probes of the run, or from a run file that the user names.
struct Known {
  Bytes last_cache{};                ///< largest known capacity of a cache; 0: unknown
  std::vector<KnownLevel> levels{};  ///< levels of known capacity, fastest first

  friend bool operator==(const Known&, const Known&) = default;
};

/// Recorded kernel launch to replay, and the name of the launch in reports.
struct AskedLaunch {
  std::string label{};
  bundle::Bundle bundle{};

  friend bool operator==(const AskedLaunch&, const AskedLaunch&) = default;
};

/// A trace file that an option of the probe names.
struct AskedTrace {
  std::string path{};
  std::string sha256{};  ///< hash of the file's text
  std::shared_ptr<const simulator::TraceFile> file{};

  friend bool operator==(const AskedTrace&, const AskedTrace&) = default;
};

/// The user's request to one probe. The probe chooses the value of each field that is not set.
struct Request {
  Bytes max_memory{};  ///< limit for all buffers of the probe together; 0: the probe chooses
  Effort effort{Effort::normal};
  std::uint64_t seed{42};
  std::vector<std::string> series{};  ///< names of declared series; empty: all
  OptionValues own{};
  Known known{};
  std::vector<AskedLaunch> launches{};  ///< launches for a probe that replays them
  std::vector<AskedTrace> traces{};     ///< files named by options of kind TracePath

  friend bool operator==(const Request&, const Request&) = default;
};

/// Copy of a point that shares no memory with other points of the plan.
struct PointAlone {
  Point point{};
  Bytes memory{};  ///< size of the memory that the copy needs
};

/// Point of a plan that the engine measures repeatedly to detect disturbances of the run.
struct PlannedReference {
  ReferenceKind kind{ReferenceKind::core};
  std::size_t point{0};  ///< index of the point in the plan
  /// Copy that can stay prepared for the whole run; present if preparing the point takes long.
  std::optional<PointAlone> alone{};
};

/// Points to measure, and findings that need no measurement ("image: the device has none").
struct Plan {
  std::vector<Point> points{};
  std::vector<Finding> findings{};
  Bytes memory{};  ///< maximum memory that the probe uses, device and host together
  /// Expected time to measure each point once, without a time limit; 0: use the budget's time.
  double seconds{0.0};
  /// True if the first visits follow the order of the points, so that a time limit drops the least
  /// important points. If false, the engine visits the points in random order.
  bool is_ordered{false};
  /// Number of urgent points at the start of an ordered plan. The engine visits urgent points
  /// `min_urgent_visits` times before other points. Urgent points with wide intervals get up to
  /// `max_urgent_visits` visits, until four fifths of the probe's time are used.
  std::size_t urgent{0};
  int min_urgent_visits{1};
  int max_urgent_visits{2};
  /// Reference points of the plan, at most one of each kind.
  std::vector<PlannedReference> references{};
};

struct Findings {
  std::vector<Finding> findings{};
  std::vector<Warning> warnings{};
};

/// A sample, the checksum that the host computed for the sample, and facts found while measuring
/// ("moved_bytes"). A later sample's fact replaces an earlier fact of the same name.
struct Measurement {
  Sample sample{};
  std::uint64_t expected_witness{0};
  Parameters facts{};
};

/// Instructions for the samples of one visit.
struct Sampling {
  Timer timer{Timer::clock};
  int count{3};
  /// Relative difference of two consecutive samples, at or below which sampling stops. Ignored if
  /// `has_partners`.
  double agree_share{0.0};
  /// True if each sample has a partner with an eighth of the work. The time difference between
  /// sample and partner excludes the launch overhead.
  bool has_partners{false};

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// Receiver of a sample and of the facts found while measuring it.
using TakeSample = std::function<void(const Sample&, const Parameters& facts)>;

/// A prepared point, which owns its filled buffers and its kernel. The kernel is built and was
/// launched once.
struct Work {
  std::uint64_t accesses_per_iteration{1};
  std::uint64_t iterations{1};  ///< number chosen by the probe, which the engine may change
  /// Maximum of `iterations`; 0: only the launch time limits the number.
  std::uint64_t max_iterations{0};
  int max_samples{0};  ///< maximum number of samples per visit; 0: the budget's number
  Parameters facts{};  ///< facts found while preparing: page kind, address form
  KernelBuild build{};
  /// Launches the kernel once with this number of iterations. Throws DeviceError.
  std::function<Measurement(std::uint64_t iterations)> run{};
};

/// A point whose kernel and buffers are ready for samples.
struct PreparedPoint {
  Parameters facts{};  ///< facts found while preparing: page kind, address form
  KernelBuild build{};
  /// Takes the samples of a visit and reports each sample immediately. Valid until the backend
  /// prepares another point. Throws DeviceError, or VoidedPoint for a wrong checksum.
  std::function<void(const Sampling&, const TakeSample&)> sample{};
};

/// Function that prepares the points of one opened probe. The function owns the resources that
/// points share (buffers, counters) until the probe ends. Throws DeviceError.
using Preparer = std::function<Work(const Point&)>;

/// One way to build a probe's kernel file: build options, without the options of the clock, and a
/// preamble that precedes the source text.
struct KernelVariant {
  std::string options{};
  std::string preamble{};

  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

/// Impossible value of a stored point, such as {"parameters", "line_bytes", "is 0, but must be at
/// least 1"}.
struct PointProblem {
  std::string group{};  ///< "parameters" or "facts"
  std::string name{};
  std::string what{};

  friend bool operator==(const PointProblem&, const PointProblem&) = default;
};

/// Error of a point that its probe cannot read. The code that loaded the document finds the point
/// with `is_of` and reports its path. The object must not dereference the point, which may no
/// longer exist.
class PointError : public std::out_of_range {
 public:
  PointError(const Point& point, PointProblem problem, const std::string& message)
      : std::out_of_range(message), point_(&point), problem_(std::move(problem)) {}

  [[nodiscard]] bool is_of(const Point& point) const { return point_ == &point; }
  [[nodiscard]] const PointProblem& problem() const { return problem_; }

 private:
  const Point* point_;
  PointProblem problem_;
};

/// Declaration of one kind of finding that `analyse` returns.
struct FindingSpec {
  std::string_view name{};  ///< "cost_per_way"; reports use the words of the name as the title
  /// "bytes"; "cycles|seconds" if the device decides; empty without a unit.
  std::string_view unit{};
  Role role{Role::fact};
  std::optional<Better> better{};  ///< absent: `usual_direction` of the unit
  bool is_ratio{false};            ///< see Finding::is_ratio
  /// Name of a larger finding; changes are judged as a share of that finding.
  std::string_view part_of{};
};

/// Meaning of a finding in the description of the device. `lower_bound`: the finding is only the
/// lower end of the number. `of_level`: there is a number per level of global memory, such as
/// "L2.read_bandwidth", with the values of a column of the probe's card.
enum class DescribedAs { number, lower_bound, of_level };

/// Declaration that a probe's finding is a number in the description of the device (`describe`).
/// Declarations with equal names are alternatives: the first finding with a value counts.
struct DescribedNumber {
  std::string_view name{};  ///< name that never changes its meaning: "local.banks"
  std::string_view finding{};
  std::string_view series{};
  DescribedAs as{DescribedAs::number};
  int level{0};  ///< level of the finding; 0 for any
};

/// A series of points that --series can select.
struct Series {
  std::string_view name{};
  std::string_view summary{};
  /// Title in comparisons, where {} stands for the name of a level: "{} read by one compute unit".
  /// If empty, comparisons use `summary`.
  std::string_view title{};
};

/// The chart of a probe's points (see View).
struct ViewSpec {
  ViewKind kind{ViewKind::curve};
  std::string_view x{};
  std::string_view y{};
  std::string_view value_title{"time of an access"};
  Scale scale{Scale::logarithmic};
  std::string_view beside{};  ///< fact of the points, drawn on a second axis
};

/// A chart of the probe's card that an SVG file can show.
struct PlotSpec {
  std::string_view title{};  ///< CardPlot::title, one word
  std::string_view needs{};  ///< what a run without the chart lacks: "`compute` and `bandwidth`"
};

struct Probe {
  std::string_view
      id{};  ///< folder = kernel stem = page = JSON key = command-line word = namespace
  std::string_view title{};
  std::string_view question{};
  /// Version of the measurement. The version increases when a change of kernels or launches changes
  /// the numbers. Results of different versions are not compared.
  int method{1};
  /// True for the probe that replays launches of other programs. Only the command `profile`
  /// measures with this probe.
  bool replays_launches{false};
  /// True if the probe's reference points also serve probes without reference points.
  bool lends_references{false};
  Unit unit{Unit::seconds};
  std::span<const Option> options{};
  std::span<const Series> series{};  ///< values of --series; empty if the probe has no such option
  std::span<const FindingSpec> findings{};
  ViewSpec view{};
  std::span<const PlotSpec> plots{};  ///< charts of `card` that files can show
  Budgets budgets{usual_budgets};
  /// Returns why the device cannot fulfil the request; empty for a valid request. The message is
  /// one line and names the nearest valid value ("--grid: 4096 work-items are more than 1024
  /// elements: choose at most 1024"). Pure, may be null.
  std::string (*check)(const DeviceInfo&, const Request&){nullptr};
  /// Returns the points to measure. Pure.
  Plan (*plan)(const DeviceInfo&, const Request&){nullptr};
  /// Returns additional points that depend on the first results (sizes around a knee). Pure, may be
  /// null.
  std::vector<Point> (*refine)(const DeviceInfo&, const Request&, std::span<const Point>){nullptr};
  /// Opens the probe on a device. Only this function and the Preparer that it returns use OpenCL.
  /// Null for probes that run only on simulated devices. Throws DeviceError.
  Preparer (*open)(Session&){nullptr};
  /// Returns the point's work as warp instructions for a simulated device. Pure, may be null.
  SimulatedWork (*trace)(const simulator::Machine&, const Point&){nullptr};
  /// Returns the kernel builds that a point needs. On GPUs, other processes make these builds
  /// in advance, unless the driver's cache has them. Pure, may be null.
  std::vector<KernelVariant> (*builds)(const DeviceInfo&, std::uint64_t seed,
                                       const Point&){nullptr};
  /// Returns the first impossible value of a stored point. `analyse` never receives a point with an
  /// impossible value, but a point may lack parameters. Pure, may be null.
  std::optional<PointProblem> (*find_problem)(const Point&){nullptr};
  /// Sets facts that depend on all points. Called before each `analyse`. Pure, may be null.
  void (*derive)(std::vector<Point>&){nullptr};
  /// Returns the findings and warnings for the measured points. Pure.
  Findings (*analyse)(const DeviceInfo&, std::span<const Point>){nullptr};
  /// Sets the values and intervals of findings that combine other findings. Called again after
  /// disturbances have widened the other findings' intervals. Pure, may be null.
  void (*combine)(std::vector<Finding>&){nullptr};
  /// Returns the probe's section of the device's card. Pure, may be null. Without this function,
  /// the card shows the headlines.
  Card (*card)(const ProbeResult&){nullptr};
  /// Stores facts of this result for later probes of the run. Pure, may be null.
  void (*learn)(const ProbeResult&, Known&){nullptr};
  /// Findings that other probes can also make. Each run compares such findings between its probes.
  std::span<const SharedQuantity> quantities{};
  std::span<const DescribedNumber> described{};
  bool is_in_checkup{false};  ///< true: `doctor` runs this probe
};

/// Name of the option that selects series, for probes with more than one series.
inline constexpr std::string_view series_option = "series";

/// Copies the probe's declarations into a result (unit, view, roles and directions of findings),
/// for readers without the probe. Removes impossible values of findings, such as shares above 1.
void declare(const Probe& probe, ProbeResult& result);

/// Replaces the findings and warnings of the analysis with new results of `analyse`, and calls
/// `declare`. Findings of the plan and warnings of the engine stay. A result without points keeps
/// all findings. Throws RunFormatError for a point that the probe cannot read, with the path within
/// the result ("points[3].parameters.line_bytes: is 0, but must be at least 1").
void analyse_again(const Probe& probe, const DeviceInfo& device, ProbeResult& result);

/// Compares the findings of different probes, and adds the results to `run` (agreement.hpp).
void tell_agreement(std::span<const Probe* const> probes, Run& run);

}  // namespace clprobe
