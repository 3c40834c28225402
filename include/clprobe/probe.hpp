// SPDX-License-Identifier: Apache-2.0
// The contract of a probe: a value with options, series, findings and a view, and free functions.
// Code outside a probe's folder refers to no individual probe.
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

/// The value of `Probe::trace`: the probe's function, or null in a build without simulation.
#if CLPROBE_SIMULATION
#define CLPROBE_TRACE(function) function
#else
#define CLPROBE_TRACE(function) nullptr
#endif

namespace clprobe {

class Session;         // device.hpp; only `open` uses it
struct SimulatedWork;  // simulated.hpp
namespace simulator {
struct Machine;    // machine.hpp
struct TraceFile;  // simulator.hpp
}  // namespace simulator

/// A cache of global memory.
struct KnownLevel {
  int level{0};  ///< level of global memory as `latency` counts, from 1
  Bytes capacity{};

  friend bool operator==(const KnownLevel&, const KnownLevel&) = default;
};

/// Facts about the device from earlier probes of the run, or from a run that the user names.
struct Known {
  Bytes last_cache{};                ///< largest capacity of a cache; 0: unknown
  std::vector<KnownLevel> levels{};  ///< levels of known capacity, nearest first

  friend bool operator==(const Known&, const Known&) = default;
};

/// A launch to replay, with its name in reports.
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

/// The user's request to one probe. The probe chooses every field that is not set.
struct Request {
  Bytes max_memory{};  ///< limit for all buffers of the probe together; 0: the probe's choice
  Effort effort{Effort::normal};
  std::uint64_t seed{42};
  std::vector<std::string> series{};  ///< names of declared series; empty: all
  OptionValues own{};
  Known known{};
  std::vector<AskedLaunch> launches{};  ///< launches for a probe that replays them
  std::vector<AskedTrace> traces{};     ///< files of the options of kind TracePath

  friend bool operator==(const Request&, const Request&) = default;
};

/// A point that is measured without sharing memory with other points of the plan.
struct PointAlone {
  Point point{};
  Bytes memory{};  ///< memory that the point needs
};

/// A point of a plan that the engine measures repeatedly to detect disturbances of the run.
struct PlannedReference {
  ReferenceKind kind{ReferenceKind::core};
  std::size_t point{0};  ///< index in the plan
  /// A copy of the point that stays prepared, if preparing the point takes long.
  std::optional<PointAlone> alone{};
};

/// The points to measure, and findings without a measurement ("image: the device has none").
struct Plan {
  std::vector<Point> points{};
  std::vector<Finding> findings{};
  Bytes memory{};  ///< maximum memory of the probe, on the device and on the host together
  /// Time to measure each point once without a time limit; 0: see the budget.
  double seconds{0.0};
  /// True if the first visits follow the order of the points, so that a time limit drops the least
  /// important ones. Otherwise the engine shuffles the points.
  bool is_ordered{false};
  /// Number of urgent points at the start of an ordered plan. The engine visits them
  /// `min_urgent_visits` times before it visits other points. Urgent points with wide intervals get
  /// up to `max_urgent_visits` visits, until four fifths of the time are used.
  std::size_t urgent{0};
  int min_urgent_visits{1};
  int max_urgent_visits{2};
  /// At most one reference point of each kind.
  std::vector<PlannedReference> references{};
};

struct Findings {
  std::vector<Finding> findings{};
  std::vector<Warning> warnings{};
};

/// A sample, the checksum that the host computed for it, and facts found while measuring
/// ("moved_bytes"). Facts of later samples replace earlier ones.
struct Measurement {
  Sample sample{};
  std::uint64_t expected_witness{0};
  Parameters facts{};
};

/// The samples to take in one visit.
struct Sampling {
  Timer timer{Timer::clock};
  int count{3};
  /// Without partners: stop when two consecutive samples agree within this share.
  double agree_share{0.0};
  /// True if each sample has a partner with an eighth of the work. The difference of the two
  /// excludes the launch overhead.
  bool has_partners{false};

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// Receives a sample and the facts found while measuring.
using TakeSample = std::function<void(const Sample&, const Parameters& facts)>;

/// A prepared point: filled buffers, and a built kernel that was launched once. Owns its resources.
struct Work {
  std::uint64_t accesses_per_iteration{1};
  std::uint64_t iterations{1};      ///< choice of the probe, which the engine may change
  std::uint64_t max_iterations{0};  ///< 0: limited by the time of a launch
  int max_samples{0};               ///< maximum per visit; 0: see the budget
  Parameters facts{};               ///< facts found while preparing: page kind, address form
  KernelBuild build{};
  /// Runs the kernel once with this number of iterations. Throws DeviceError.
  std::function<Measurement(std::uint64_t iterations)> run{};
};

/// A point that is ready to be sampled.
struct PreparedPoint {
  Parameters facts{};  ///< facts found while preparing: page kind, address form
  KernelBuild build{};
  /// Takes the samples of a visit and reports each at once. Valid until the backend prepares
  /// another point. Throws DeviceError, or VoidedPoint for a wrong checksum.
  std::function<void(const Sampling&, const TakeSample&)> sample{};
};

/// Prepares points of one opened probe, and owns their shared resources (buffers, counters) until
/// the probe ends. Throws DeviceError.
using Preparer = std::function<Work(const Point&)>;

/// One way to build a probe's kernel file: the build options without those of the clock, and a
/// preamble of the text.
struct KernelVariant {
  std::string options{};
  std::string preamble{};

  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

/// An impossible value of a stored point: {"parameters", "line_bytes", "is 0, but must be at least
/// 1"}.
struct PointProblem {
  std::string group{};  ///< "parameters" or "facts"
  std::string name{};
  std::string what{};

  friend bool operator==(const PointProblem&, const PointProblem&) = default;
};

/// Error of a point that its probe cannot read. The owner of the document identifies the point by
/// `is_of` to report its path. The point itself may no longer exist.
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

/// One kind of finding that `analyse` makes.
struct FindingSpec {
  std::string_view name{};  ///< "cost_per_way", whose words are the title
  std::string_view unit{};  ///< "bytes", "cycles|seconds" (the device decides); empty: none
  Role role{Role::fact};
  std::optional<Better> better{};  ///< absent: the usual direction of the unit
  std::string_view part_of{};      ///< larger finding; changes are judged as a share of it
};

/// A series of points that --series can select.
struct Series {
  std::string_view name{};
  std::string_view summary{};
  /// Name in comparisons, where {} is the name of a level: "{} read by one compute unit". Empty:
  /// the summary.
  std::string_view title{};
};

/// The chart of a probe's points (see View).
struct ViewSpec {
  ViewKind kind{ViewKind::curve};
  std::string_view x{};
  std::string_view y{};
  std::string_view value_title{"time of an access"};
  Scale scale{Scale::logarithmic};
  std::string_view beside{};  ///< fact of the points on a second axis
};

struct Probe {
  std::string_view
      id{};  ///< folder = kernel stem = page = JSON key = command-line word = namespace
  std::string_view title{};
  std::string_view question{};
  /// Version of the measurement, incremented when a change of kernels or launches changes the
  /// numbers. Results of different versions are not compared.
  int method{1};
  /// True for the probe that replays launches of other programs, which only `profile` uses.
  bool replays_launches{false};
  /// True if its reference points also serve probes that have none.
  bool lends_references{false};
  Unit unit{Unit::seconds};
  std::span<const Option> options{};
  std::span<const Series> series{};  ///< values of --series; empty: no such option
  std::span<const FindingSpec> findings{};
  ViewSpec view{};
  Budgets budgets{usual_budgets};
  /// Pure, may be null. Returns why the device cannot fulfil the request, in one line with the
  /// nearest valid value ("--grid: 4096 work-items are more than 1024 elements: choose at most
  /// 1024"). Empty: the request is valid.
  std::string (*check)(const DeviceInfo&, const Request&){nullptr};
  /// Pure.
  Plan (*plan)(const DeviceInfo&, const Request&){nullptr};
  /// Pure, may be null. Returns more points, depending on the first ones (sizes around a knee).
  std::vector<Point> (*refine)(const DeviceInfo&, const Request&, std::span<const Point>){nullptr};
  /// Opens the probe. No other function uses OpenCL. Null for probes that only run on simulated
  /// machines. Throws DeviceError.
  Preparer (*open)(Session&){nullptr};
  /// Pure, may be null. Returns the point's work as warp instructions for a simulated machine.
  SimulatedWork (*trace)(const simulator::Machine&, const Point&){nullptr};
  /// Pure, may be null. Returns the builds that a point needs, which slow drivers make while
  /// another point is measured.
  std::vector<KernelVariant> (*builds)(const DeviceInfo&, std::uint64_t seed,
                                       const Point&){nullptr};
  /// Pure, may be null. Returns the first impossible value of a stored point. `analyse` gets no
  /// point with such a value, but points may lack parameters.
  std::optional<PointProblem> (*find_problem)(const Point&){nullptr};
  /// Pure, may be null. Sets facts that depend on all points. Called before each `analyse`.
  void (*derive)(std::vector<Point>&){nullptr};
  /// Pure.
  Findings (*analyse)(const DeviceInfo&, std::span<const Point>){nullptr};
  /// Pure, may be null. Returns the probe's section of the device's card. Without this function,
  /// the card shows the headlines.
  Card (*card)(const ProbeResult&){nullptr};
  /// Pure, may be null. Stores facts of this result for later probes of the run.
  void (*learn)(const ProbeResult&, Known&){nullptr};
  /// Findings that other probes may have as well, and that a run compares with each other.
  std::span<const SharedQuantity> quantities{};
};

/// Name of the option of every probe with several series.
inline constexpr std::string_view series_option = "series";

/// Copies the probe's declarations into a result: unit, view, and the role and direction of each
/// finding. Documents are complete without the probe.
void declare(const Probe& probe, ProbeResult& result);

/// Replaces the findings and warnings of the analysis by those of the current `analyse`. Findings
/// and warnings of the plan and the engine stay. Throws RunFormatError with the path within the
/// result ("points[3].parameters.line_bytes: is 0, but must be at least 1") for a point that the
/// probe cannot read.
void analyse_again(const Probe& probe, const DeviceInfo& device, ProbeResult& result);

/// Compares the findings of different probes about the run's device (agreement.hpp).
void tell_agreement(std::span<const Probe* const> probes, Run& run);

}  // namespace clprobe
