// SPDX-License-Identifier: Apache-2.0
// What a probe is: a value that declares its options, series, findings and view, and free
// functions. Nothing here, and nothing outside a probe's folder, knows any probe.
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
#include "clprobe/launch.hpp"
#include "clprobe/option.hpp"
#include "clprobe/run.hpp"
#include "clprobe/units.hpp"

/// What a probe gives for `Probe::trace`: its function, or nothing in a build without the simulation.
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
  int level{0};      ///< as `latency` numbers those of global memory, from 1
  Bytes capacity{};  ///< where the next one begins

  friend bool operator==(const KnownLevel&, const KnownLevel&) = default;
};

/// What earlier probes of this run, or of a run that the user names, found out of the device.
struct Known {
  Bytes last_cache{};                ///< the largest capacity of a cache; 0: not known
  std::vector<KnownLevel> levels{};  ///< whose capacity is known, the nearest first

  friend bool operator==(const Known&, const Known&) = default;
};

/// A launch that is to be replayed, and what it is called in reports.
struct AskedLaunch {
  std::string label{};
  bundle::Bundle bundle{};

  friend bool operator==(const AskedLaunch&, const AskedLaunch&) = default;
};

/// A trace that an option of the probe names, read.
struct AskedTrace {
  std::string path{};
  std::string sha256{};  ///< of its text
  std::shared_ptr<const simulator::TraceFile> file{};

  friend bool operator==(const AskedTrace&, const AskedTrace&) = default;
};

/// What the user allows and asks one probe for; every field that is not set is the probe's choice.
struct Request {
  Bytes max_memory{};  ///< for all buffers of the probe together; 0: the probe's choice
  Effort effort{Effort::normal};
  std::uint64_t seed{42};
  std::vector<std::string> series{};  ///< of those that the probe declares; empty: all
  OptionValues own{};
  Known known{};
  std::vector<AskedLaunch> launches{};  ///< for a probe that replays them
  std::vector<AskedTrace> traces{};     ///< of its options of the kind TracePath

  friend bool operator==(const Request&, const Request&) = default;
};

/// A point of a plan as it is measured where it shares no memory with the others.
struct PointAlone {
  Point point{};
  Bytes memory{};  ///< that it takes
};

/// A point of a plan that the engine measures over and over, to see what disturbs the run.
struct PlannedReference {
  ReferenceKind kind{ReferenceKind::core};
  std::size_t point{0};  ///< of the plan's
  /// Where that takes long to prepare: what is kept from one time to the next.
  std::optional<PointAlone> alone{};
};

/// What to measure, and findings that are clear without measuring ("image: the device has none").
struct Plan {
  std::vector<Point> points{};
  std::vector<Finding> findings{};
  Bytes memory{};  ///< that the probe will hold at most, on the device and beside it on the host
  /// How long points take that are measured once each, however long that is; 0: as the budget says.
  double seconds{0.0};
  /// Whether the points stand in the order in which they are to be visited first, so that time cuts
  /// off what matters least. Else the engine shuffles them.
  bool is_ordered{false};
  /// Of an ordered plan: so many of its first points are what it is about, and are visited again
  /// before others are begun: so often at least, and those with wide intervals so often at most,
  /// while four fifths of the time are not used.
  std::size_t urgent{0};
  int min_urgent_visits{1};
  int max_urgent_visits{2};
  /// Of each kind at most one.
  std::vector<PlannedReference> references{};
};

struct Findings {
  std::vector<Finding> findings{};
  std::vector<Warning> warnings{};
};

/// A sample, the witness that the host computed for it, and what else was seen of the point while
/// it was taken ("moved_bytes"): facts that a later sample's replace.
struct Measurement {
  Sample sample{};
  std::uint64_t expected_witness{0};
  Parameters facts{};
};

/// How the samples of one visit are taken.
struct Sampling {
  Timer timer{Timer::clock};
  int count{3};
  double agree_share{0.0};  ///< without partners: two in a row that differ by less are enough
  /// Whether as many samples with an eighth of the work are taken too, since only their difference
  /// is free of the launch.
  bool has_partners{false};

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// A sample, and the facts that were found while it was taken.
using TakeSample = std::function<void(const Sample&, const Parameters& facts)>;

/// One prepared point: buffers filled, kernel built and launched once. Owns what it needs.
struct Work {
  std::uint64_t accesses_per_iteration{1};
  std::uint64_t iterations{1};      ///< the probe's wish; the engine may lengthen or shorten it
  std::uint64_t max_iterations{0};  ///< 0: no bound but the time of a launch
  int max_samples{0};               ///< of a visit; 0: as many as the budget wants
  Parameters facts{};               ///< what was found while preparing: page kind, address form
  KernelBuild build{};
  /// Runs the kernel once with so many iterations. Throws DeviceError.
  std::function<Measurement(std::uint64_t iterations)> run{};
};

/// A point that is ready to be sampled.
struct PreparedPoint {
  Parameters facts{};  ///< what was found while preparing: page kind, address form
  KernelBuild build{};
  /// Takes the samples of a visit and hands over each as it comes. Valid until the backend prepares
  /// another point. Throws DeviceError; VoidedPoint when a witness is wrong.
  std::function<void(const Sampling&, const TakeSample&)> sample{};
};

/// Prepares points of one opened probe, and owns what they share (buffers, counters): all of it is
/// freed with it, when the probe ends. Throws DeviceError.
using Preparer = std::function<Work(const Point&)>;

/// One way to build a probe's kernel file: its options without the clock, and what is put before
/// it.
struct KernelVariant {
  std::string options{};
  std::string preamble{};

  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

/// What a stored point has that cannot be: {"parameters", "line_bytes", "is 0, but must be at least
/// 1"}.
struct PointProblem {
  std::string group{};  ///< "parameters" or "facts"
  std::string name{};
  std::string what{};

  friend bool operator==(const PointProblem&, const PointProblem&) = default;
};

/// A point is not what its probe reads. Tells which one it was, so that who holds the document can
/// say where that is; the point itself may be gone.
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
  std::string_view name{};  ///< its words are its title: "cost_per_way"
  std::string_view unit{};  ///< "bytes", "cycles|seconds" (the device decides); empty: none
  Role role{Role::fact};
  std::optional<Better> better{};  ///< nothing: as usual for its unit
  std::string_view formerly{};     ///< its name in older documents
  std::string_view part_of{};      ///< of which finding a change of it is judged as a share
};

/// A series of points that can be asked for by --series.
struct Series {
  std::string_view name{};
  std::string_view summary{};
  /// Its name in comparisons, with {} for the name of a level: "{} read by one compute unit".
  /// Empty: the summary.
  std::string_view title{};
};

/// A series that has another name in older documents. An empty `name` is none.
struct FormerSeries {
  std::string_view name{};
  std::string_view now{};
};

/// How a probe's points are drawn (see View).
struct ViewSpec {
  ViewKind kind{ViewKind::curve};
  std::string_view x{};
  std::string_view y{};
  std::string_view value_title{"time of an access"};
  Scale scale{Scale::logarithmic};
  std::string_view beside{};  ///< a fact of the points, drawn on an axis of its own
};

struct Probe {
  std::string_view
      id{};  ///< folder = kernel stem = page = JSON key = command-line word = namespace
  std::string_view title{};
  std::string_view question{};
  /// Version of what it measures: one more with each change of its kernels or launches after which
  /// the same device gives other numbers. Results of two versions are not compared.
  int method{1};
  /// Whether it replays launches of other people's programs: `profile` asks for it, and it is not
  /// among the probes of the device.
  bool replays_launches{false};
  /// Whether its reference points show what disturbs a run of other probes that have none.
  bool lends_references{false};
  /// The id under which older versions stored what this probe measures on simulated machines.
  std::string_view former_id_simulated{};
  std::span<const FormerSeries> former_series{};
  Unit unit{Unit::seconds};
  std::span<const Option> options{};
  std::span<const Series> series{};  ///< what --series can choose; empty: there is no such option
  std::span<const FindingSpec> findings{};
  ViewSpec view{};
  Budgets budgets{usual_budgets};  ///< how long and how often
  /// Pure, may be null: what of the request the device can never do, in one line that names the
  /// nearest valid value ("--grid: 4096 work-items are more than 1024 elements: choose at most
  /// 1024"). Empty when all is well.
  std::string (*check)(const DeviceInfo&, const Request&){nullptr};
  /// Pure.
  Plan (*plan)(const DeviceInfo&, const Request&){nullptr};
  /// Pure, may be null: more points, seen what the first ones say (sizes around a knee).
  std::vector<Point> (*refine)(const DeviceInfo&, const Request&, std::span<const Point>){nullptr};
  /// The only one that sees OpenCL; null for a probe of simulated machines alone. Throws
  /// DeviceError.
  Preparer (*open)(Session&){nullptr};
  /// Pure, may be null: the same work as streams of warp instructions, for a simulated machine.
  SimulatedWork (*trace)(const simulator::Machine&, const Point&){nullptr};
  /// Pure, may be null: how `open` builds the kernels that such a point needs, for drivers that
  /// build slowly: they can do it while something else is measured.
  std::vector<KernelVariant> (*builds)(const DeviceInfo&, std::uint64_t seed,
                                       const Point&){nullptr};
  /// Pure, may be null: the first number or word of a stored point that no point of this probe can
  /// have. `analyse` sees no point that has one; of what is missing it has to take care itself.
  std::optional<PointProblem> (*find_problem)(const Point&){nullptr};
  /// Pure, may be null: facts that follow from what all points took together. They are written anew
  /// before `analyse`, and stand in every format that has facts.
  void (*derive)(std::vector<Point>&){nullptr};
  /// Pure.
  Findings (*analyse)(const DeviceInfo&, std::span<const Point>){nullptr};
  /// Pure, may be null: what stands of the findings on the device's card. Without it, the headlines
  /// do.
  Card (*card)(const ProbeResult&){nullptr};
  /// Pure, may be null: what later probes of the run should know of this one's result.
  void (*learn)(const ProbeResult&, Known&){nullptr};
  /// What of its findings other probes may find as well: a run holds them against each other.
  std::span<const SharedQuantity> quantities{};
};

/// The name of the option that every probe with several series has.
inline constexpr std::string_view series_option = "series";

/// Gives the series of an older document's result their present names.
void adopt_former_series(const Probe& probe, ProbeResult& result);

/// Writes what the probe declares into a result: unit, view, and every finding's role, direction
/// and present name. Documents are then complete without the probe.
void declare(const Probe& probe, ProbeResult& result);

/// Replaces findings and warnings of the analysis by those that `analyse` makes of the points now.
/// What the plan said, and what the engine saw, stays. Throws RunFormatError with the path within
/// the result ("points[3].parameters.line_bytes: is 0, but must be at least 1") where a point is
/// not what the probe reads.
void analyse_again(const Probe& probe, const DeviceInfo& device, ProbeResult& result);

/// Holds what the probes say of the run's device against each other (agreement.hpp).
void tell_agreement(std::span<const Probe* const> probes, Run& run);

}  // namespace clprobe
