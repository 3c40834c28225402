// SPDX-License-Identifier: Apache-2.0
// A probe is a value that declares its options, series, findings and view, and has free functions.
// Code here and outside a probe's folder knows no single probe.
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

/// The value of `Probe::trace` of a probe: its function, or null in a build without the
/// simulation.
#if CLPROBE_SIMULATION
#define CLPROBE_TRACE(function) function
#else
#define CLPROBE_TRACE(function) nullptr
#endif

namespace clprobe {

class Session;         // device.hpp; only `open` sees it
struct SimulatedWork;  // simulated.hpp
namespace simulator {
struct Machine;    // machine.hpp
struct TraceFile;  // trace_file.hpp
}  // namespace simulator

/// A cache of global memory.
struct KnownLevel {
  int level{0};  ///< number of the level of global memory, from 1, as `latency` counts
  Bytes capacity{};

  friend bool operator==(const KnownLevel&, const KnownLevel&) = default;
};

/// Facts about the device from earlier probes of this run, or from a run that the user names.
struct Known {
  Bytes last_cache{};                ///< largest capacity of a cache; 0: unknown
  std::vector<KnownLevel> levels{};  ///< levels of known capacity, the nearest first

  friend bool operator==(const Known&, const Known&) = default;
};

/// A launch to be replayed, with its name in reports.
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

/// A point of a plan as it is measured if it shares no memory with the others.
struct PointAlone {
  Point point{};
  Bytes memory{};  ///< memory that the point needs
};

/// A point of a plan that the engine measures repeatedly, to see what disturbs the run.
struct PlannedReference {
  ReferenceKind kind{ReferenceKind::core};
  std::size_t point{0};  ///< index in the plan
  /// A point that takes long to prepare: the copy that stays prepared.
  std::optional<PointAlone> alone{};
};

/// The points to measure, and findings that need no measurement ("image: the device has none").
struct Plan {
  std::vector<Point> points{};
  std::vector<Finding> findings{};
  Bytes memory{};  ///< maximum memory of the probe, on the device and on the host together
  /// Time of all points together, if each is measured once without a time limit; 0: see the budget.
  double seconds{0.0};
  /// True if the first visits follow the order of the points, so that a time limit cuts off the
  /// least important ones. Otherwise the engine shuffles the points.
  bool is_ordered{false};
  /// Number of urgent points at the start of an ordered plan. The engine visits them
  /// `min_urgent_visits` times before it begins others, and those with wide intervals up to
  /// `max_urgent_visits` times, until four fifths of the time are used.
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

/// A sample, the witness that the host computed for it, and facts that were found meanwhile
/// ("moved_bytes"). Facts of a later sample replace these.
struct Measurement {
  Sample sample{};
  std::uint64_t expected_witness{0};
  Parameters facts{};
};

/// The samples to take in one visit.
struct Sampling {
  Timer timer{Timer::clock};
  int count{3};
  double agree_share{0.0};  ///< without partners, two samples in a row within this share are enough
  /// True if each sample gets a partner with an eighth of the work: only their difference is free
  /// of the launch's overhead.
  bool has_partners{false};

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// Receives a sample and the facts that were found meanwhile.
using TakeSample = std::function<void(const Sample&, const Parameters& facts)>;

/// A prepared point: its buffers are filled, and its kernel is built and was launched once. Owns
/// its resources.
struct Work {
  std::uint64_t accesses_per_iteration{1};
  std::uint64_t iterations{1};      ///< the probe's choice, which the engine may change
  std::uint64_t max_iterations{0};  ///< 0: only the time of a launch limits them
  int max_samples{0};               ///< maximum per visit; 0: the budget decides
  Parameters facts{};               ///< facts found while preparing: page kind, address form
  KernelBuild build{};
  /// Runs the kernel once with this number of iterations. Throws DeviceError.
  std::function<Measurement(std::uint64_t iterations)> run{};
};

/// A point that is ready to be sampled.
struct PreparedPoint {
  Parameters facts{};  ///< facts found while preparing: page kind, address form
  KernelBuild build{};
  /// Takes the samples of a visit and passes on each at once. Valid until the backend prepares
  /// another point. Throws DeviceError; VoidedPoint if a witness is wrong.
  std::function<void(const Sampling&, const TakeSample&)> sample{};
};

/// Prepares points of one opened probe, and owns their shared resources (buffers, counters) until
/// the probe ends. Throws DeviceError.
using Preparer = std::function<Work(const Point&)>;

/// One way to build a probe's kernel file: the options without the clock, and a preamble of the
/// text.
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

/// Error of a point that its probe cannot read. `is_of` identifies the point, so that the owner of
/// the document can give its path; the point itself may no longer exist.
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
  std::optional<Better> better{};  ///< nothing: the usual direction of its unit
  std::string_view part_of{};      ///< finding of which a change is judged as a share
};

/// A series of points that --series can select.
struct Series {
  std::string_view name{};
  std::string_view summary{};
  /// Name in comparisons, with {} for the name of a level: "{} read by one compute unit"; empty:
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
  /// Version of the measurement. A change of kernels or launches that changes a device's numbers
  /// increments it. Results of two versions are not compared.
  int method{1};
  /// True if it replays launches of other programs. `profile` uses it; it is no probe of the
  /// device.
  bool replays_launches{false};
  /// True if its reference points show disturbances of other probes that have none.
  bool lends_references{false};
  Unit unit{Unit::seconds};
  std::span<const Option> options{};
  std::span<const Series> series{};  ///< values of --series; empty: no such option
  std::span<const FindingSpec> findings{};
  ViewSpec view{};
  Budgets budgets{usual_budgets};
  /// Pure, may be null. Returns the part of the request that the device can never do, in one line
  /// with the nearest valid value ("--grid: 4096 work-items are more than 1024 elements: choose at
  /// most 1024"); empty if the request is valid.
  std::string (*check)(const DeviceInfo&, const Request&){nullptr};
  /// Pure.
  Plan (*plan)(const DeviceInfo&, const Request&){nullptr};
  /// Pure, may be null. Returns more points, chosen by the first ones (sizes around a knee).
  std::vector<Point> (*refine)(const DeviceInfo&, const Request&, std::span<const Point>){nullptr};
  /// Opens the probe: the only function that sees OpenCL. Null for a probe of simulated machines
  /// alone. Throws DeviceError.
  Preparer (*open)(Session&){nullptr};
  /// Pure, may be null. Returns the point's work as streams of warp instructions, for a simulated
  /// machine.
  SimulatedWork (*trace)(const simulator::Machine&, const Point&){nullptr};
  /// Pure, may be null. Returns the builds that a point needs, so that slow drivers can build while
  /// another point is measured.
  std::vector<KernelVariant> (*builds)(const DeviceInfo&, std::uint64_t seed,
                                       const Point&){nullptr};
  /// Pure, may be null. Returns the first impossible value of a stored point. `analyse` sees no
  /// point with such a value, but points may lack parameters.
  std::optional<PointProblem> (*find_problem)(const Point&){nullptr};
  /// Pure, may be null. Sets facts that follow from all points together, before each `analyse`.
  void (*derive)(std::vector<Point>&){nullptr};
  /// Pure.
  Findings (*analyse)(const DeviceInfo&, std::span<const Point>){nullptr};
  /// Pure, may be null. Returns the probe's part of the device's card; without it the card shows
  /// the headlines.
  Card (*card)(const ProbeResult&){nullptr};
  /// Pure, may be null. Stores what later probes of the run should know of this result.
  void (*learn)(const ProbeResult&, Known&){nullptr};
  /// Findings that other probes may have as well. A run compares them with each other.
  std::span<const SharedQuantity> quantities{};
};

/// Name of the option of every probe with several series.
inline constexpr std::string_view series_option = "series";

/// Writes what the probe declares into a result: unit, view, and every finding's role and
/// direction. Documents are then complete without the probe.
void declare(const Probe& probe, ProbeResult& result);

/// Replaces findings and warnings of the analysis by those that `analyse` makes now. Those of the
/// plan and the engine stay. Throws RunFormatError with the path within the result
/// ("points[3].parameters.line_bytes: is 0, but must be at least 1") for a point that the probe
/// cannot read.
void analyse_again(const Probe& probe, const DeviceInfo& device, ProbeResult& result);

/// Compares the probes' findings about the run's device with each other (agreement.hpp).
void tell_agreement(std::span<const Probe* const> probes, Run& run);

}  // namespace clprobe
