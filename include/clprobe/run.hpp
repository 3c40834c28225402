// SPDX-License-Identifier: Apache-2.0
// The run document: everything that one run on one device measured and concluded.
//
// Samples are facts, stored as measured. Findings are opinions: `analyse` can make them anew from
// the samples. Names carry their unit; values are SI base units, bytes or integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/device_info.hpp"
#include "clprobe/parameters.hpp"
#include "clprobe/words.hpp"

namespace clprobe {

/// Origin of a number.
enum class Source { measured, reported, derived };
template <>
struct EnumWords<Source> {
  static constexpr std::array table{Word{Source::measured, "measured"},
                                    Word{Source::reported, "reported"},
                                    Word{Source::derived, "derived"}};
};

/// Outcome of a probe or of the whole run.
enum class Status { ok, unsupported, unobservable, failed, interrupted };
template <>
struct EnumWords<Status> {
  static constexpr std::array table{
      Word{Status::ok, "ok"}, Word{Status::unsupported, "unsupported"},
      Word{Status::unobservable, "unobservable"}, Word{Status::failed, "failed"},
      Word{Status::interrupted, "interrupted"}};
};

/// Unit of a point's value and of most findings: the time of one access, or a rate per second. A
/// sample of a rate counts bytes, operations or cycles as its accesses.
enum class Unit { seconds, bytes_per_second, operations_per_second, hertz };
template <>
struct EnumWords<Unit> {
  static constexpr std::array table{
      Word{Unit::seconds, "seconds"}, Word{Unit::bytes_per_second, "bytes_per_second"},
      Word{Unit::operations_per_second, "operations_per_second"}, Word{Unit::hertz, "hertz"}};
};

/// Kind of chart that suits a probe's points.
enum class ViewKind { curve, heat_map, stacks };
template <>
struct EnumWords<ViewKind> {
  static constexpr std::array table{Word{ViewKind::curve, "curve"},
                                    Word{ViewKind::heat_map, "heat-map"},
                                    Word{ViewKind::stacks, "stacks"}};
};

/// Scale of a curve's axes. A linear scale shows small differences between similar values, such as
/// a clock over time.
enum class Scale { logarithmic, linear };
template <>
struct EnumWords<Scale> {
  static constexpr std::array table{Word{Scale::logarithmic, "logarithmic"},
                                    Word{Scale::linear, "linear"}};
};

/// Direction of an improvement of a finding.
enum class Better { unknown, less, more };
template <>
struct EnumWords<Better> {
  static constexpr std::array table{Word{Better::unknown, "unknown"}, Word{Better::less, "less"},
                                    Word{Better::more, "more"}};
};

/// Purpose of a finding. `lower_bound`: the device may well do more. `passing`: its cause changes
/// from run to run (a driver's state, the place of a buffer), so that only several runs per side
/// show a change. `remark`: it describes this run and not the device (how well a model fits), so
/// that runs are not compared by it. `advice`: a sentence for programmers.
enum class Role { fact, headline, lower_bound, passing, remark, advice };
template <>
struct EnumWords<Role> {
  static constexpr std::array table{Word{Role::fact, "fact"},
                                    Word{Role::headline, "headline"},
                                    Word{Role::lower_bound, "lower-bound"},
                                    Word{Role::passing, "passing"},
                                    Word{Role::remark, "remark"},
                                    Word{Role::advice, "advice"}};
};

/// Part of the device whose disturbances a reference point shows.
enum class ReferenceKind { core, cache, memory, arithmetic };
template <>
struct EnumWords<ReferenceKind> {
  static constexpr std::array table{
      Word{ReferenceKind::core, "core"}, Word{ReferenceKind::cache, "cache"},
      Word{ReferenceKind::memory, "memory"}, Word{ReferenceKind::arithmetic, "arithmetic"}};
};

/// Origin of a warning: the engine's record of what happened, or the analysis, which can be
/// repeated.
enum class WarningSource { engine, analysis };
template <>
struct EnumWords<WarningSource> {
  static constexpr std::array table{Word{WarningSource::engine, "engine"},
                                    Word{WarningSource::analysis, "analysis"}};
};

/// One timed launch. `accesses` were timed between two clock reads (`ticks`), and the launch as a
/// whole by the driver's events (`event_ns`) and the host's steady clock (`host_ns`).
struct Sample {
  std::uint64_t accesses{0};
  std::optional<std::uint64_t> ticks{};  ///< device clock, the empty clock pair not yet subtracted
  std::optional<std::uint64_t> event_ns{};  ///< START to END of the launch
  std::uint64_t host_ns{0};                 ///< enqueue to finish, as the host saw it
  std::uint64_t witness{0};                 ///< checksum by the kernel; checked by the engine
  std::uint64_t visit{0};                   ///< number of the visit of the point: 0, 1, 2, ...

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// Fact of points whose series is measured only if another series calls for it.
inline constexpr std::string_view follow_up = "follow_up";

/// One combination of parameters that is measured. Parameters identify the point. Facts are further
/// properties, planned along with it or found while preparing and measuring.
struct Point {
  std::string series{};     ///< "global", "constant-argument", ...
  Parameters parameters{};  ///< "working_set_bytes", "step_bytes", ...
  Parameters facts{};       ///< "huge_page_percent", "buffer_bytes", ...
  std::vector<Sample> samples{};
  std::string failure{};  ///< reason why it could not be measured; empty if it was

  friend bool operator==(const Point&, const Point&) = default;
};

/// One conclusion. A finding without a value has a `reason`.
struct Finding {
  std::string name{};          ///< "latency", "capacity", "step"
  std::string series{};        ///< the series that the finding describes
  std::optional<int> level{};  ///< 1 is the nearest level
  std::optional<double> value{};
  std::optional<double> low{};  ///< lower end of the interval or bracket
  std::optional<double> high{};
  std::string unit{};   ///< "seconds", "cycles", "bytes", or empty
  std::string label{};  ///< a word where the conclusion is one: "cache", "tlb", "memory"
  Source source{Source::derived};
  std::string method{};  ///< method of the analysis: "segmentation", "slope", ...
  std::string reason{};  ///< reason why there is no value
  Role role{Role::fact};
  Better better{Better::unknown};
  /// Name of the finding, of any series, of which a change of this one is judged as a share; empty:
  /// of itself. A difference that may be 0 has no ratio of its own.
  std::string part_of{};
  bool holds_scatter{false};  ///< true if the interval includes the scatter between visits
  /// Half-width of the 95 % interval for disturbances during the run, which this interval includes:
  /// the logarithm of a ratio, or a difference if the finding is a share.
  double disturbance{0.0};

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Memory of a level on a card. Columns and notes of other probes match levels by it.
enum class CardMemory { other, global, local };

/// A level of a memory hierarchy on a device's card. Parts without a value or a unit are unknown.
struct CardLevel {
  std::string name{};  ///< "global 2"
  Finding latency{};
  Finding cycles{};
  Finding capacity{};
  std::string what{};        ///< "cache, or its near half", "memory"
  std::string short_what{};  ///< a shorter `what` for narrow cards: "cache or half"; may be empty
  CardMemory memory{CardMemory::other};
};

/// A line of a card: "bandwidth", "read 4.55 TB/s (int4), copy 4.03 TB/s (int4)".
struct CardLine {
  std::string topic{};
  std::string text{};
};

/// A value that holds for all working sets of more than `from` and up to `to` bytes.
struct CardPlateau {
  double from{0.0};
  double to{0.0};
  bool is_open{false};  ///< true if `to` is the largest measured set, and not the plateau's end
  std::string text{};   ///< "9.11 TB/s"
};

/// A column of the table of levels, with another probe's values for the same working sets.
struct CardColumn {
  CardMemory memory{CardMemory::global};
  std::string title{};
  std::vector<CardPlateau> plateaus{};  ///< the nearest first
  CardLine alone{};                     ///< replaces the column on a card without such levels
};

/// Another probe's remark on a memory, shown with its first level.
struct CardNote {
  CardMemory memory{CardMemory::local};
  std::string text{};
  CardLine alone{};  ///< replaces the note on a card without such a level
};

/// A named range of a plot along x, such as the working sets that a cache holds.
struct CardMark {
  std::string series{};
  double from{0.0};
  double to{0.0};
  bool is_open{false};  ///< true if the curve ends at `to`, and the range does not
  std::string text{};   ///< "global 1"
};

/// A point of a plot with its own position along x.
struct CardPlotPoint {
  std::size_t point{0};  ///< index of the result's point
  double x{0.0};
  double accesses{1.0};  ///< number of accesses whose total time is drawn
};

/// A straight line through the points of a plot's series: y = slope * x + offset, in the plot's
/// unit.
struct CardTrend {
  std::string series{};
  double slope{0.0};
  double offset{0.0};
  std::string text{};  ///< "1.05 w l k + 338"
};

/// An additional chart: the times of some series over a parameter, or over the bandwidths of
/// another series at the same value of that parameter, or the times of `points`.
struct CardPlot {
  std::string title{};                ///< "latency beside streams"
  std::vector<std::string> series{};  ///< series whose times are drawn
  std::string by{};                   ///< parameter or fact of the points
  std::string across_title{};         ///< title of the x axis: "bandwidth of the streams"
  std::string across{};               ///< series on the x axis; empty: the parameter
  double across_bytes{0.0};           ///< bytes per access of the series on the x axis
  std::vector<CardMark> marks{};      ///< named ranges, if the parameter is on the x axis
  /// The points to draw; empty: all points of the series. Points of a series at one x show their
  /// mean.
  std::vector<CardPlotPoint> points{};
  std::vector<CardTrend> trends{};
  std::string value_title{"time of an access"};
  std::string unit{"seconds"};  ///< "seconds", or "cycles" of the clock that timed the values
};

/// A probe's part of the device's card. The probe makes it from findings with their final
/// intervals. Documents do not store it.
struct Card {
  std::vector<CardLevel> levels{};
  std::vector<CardColumn> columns{};
  std::vector<CardNote> notes{};
  std::vector<CardLine> lines{};      ///< answers, the most important first
  std::vector<CardLine> rows{};       ///< findings in short, if there is no room for a table
  std::vector<std::string> unseen{};  ///< quantities that could not be seen, a few words each
  std::vector<CardPlot> plots{};      ///< charts of pages
  /// Titles of series (Series::title) by name.
  std::map<std::string, std::string, std::less<>> titles{};

  // Equal findings make equal cards.
  friend bool operator==(const Card&, const Card&) { return true; }
};

/// A code with its facts. Reports turn it into prose with advice.
struct Warning {
  std::string code{};
  Parameters facts{};
  WarningSource source{WarningSource::engine};

  friend bool operator==(const Warning&, const Warning&) = default;
};

/// Time of a reference point at one moment of the run.
struct Moment {
  double at_seconds{0.0};  ///< time since the run began
  double ns{0.0};          ///< time of one access, or of one byte of a rate

  friend bool operator==(const Moment&, const Moment&) = default;
};

/// A point that is measured repeatedly during the run: its changes are no property of the device,
/// and disturb everything that is measured meanwhile.
struct Reference {
  ReferenceKind kind{ReferenceKind::core};
  std::string series{};
  Parameters parameters{};
  std::vector<Moment> moments{};
  bool is_rate{false};        ///< true if a result of times has it for the work of all units
  double spent_seconds{0.0};  ///< total time of all moments

  friend bool operator==(const Reference&, const Reference&) = default;
};

/// Source and options of a built kernel.
struct KernelBuild {
  std::string sha256{};
  std::string options{};

  friend bool operator==(const KernelBuild&, const KernelBuild&) = default;
};

/// The chart of a result's points. An empty `x` stands for the parameter that varies most.
struct View {
  ViewKind kind{ViewKind::curve};
  std::string x{};                  ///< the parameter across: "working_set_bytes"
  std::string y{};                  ///< the parameter down, of a heat map
  std::string value_title{};        ///< "time of an access", "bandwidth"
  Scale scale{Scale::logarithmic};  ///< scale of both axes
  std::string beside{};             ///< fact of the points on a second axis

  friend bool operator==(const View&, const View&) = default;
};

struct ProbeResult {
  std::string probe{};  ///< the probe's id
  int method{0};        ///< version of the probe's measurement; 0: unknown
  Unit unit{Unit::seconds};
  View view{};
  Status status{Status::ok};
  std::string reason{};  ///< reason for a status other than ok
  double elapsed_seconds{0.0};
  double others_share{0.0};  ///< share of a CPU's time that others used while the probe measured
  std::vector<KernelBuild> kernels{};
  std::vector<Point> points{};
  std::vector<Finding> findings{};
  std::vector<Warning> warnings{};
  std::vector<Reference> references{};
  Card card{};

  friend bool operator==(const ProbeResult&, const ProbeResult&) = default;
};

/// Disturbance of a run, as one reference point shows it.
struct Disturbance {
  std::string probe{};
  std::string series{};
  ReferenceKind kind{ReferenceKind::core};
  double seconds{0.0};     ///< median time of one access or byte over its moments
  bool is_rate{false};     ///< true if its probe measures bytes per second
  double half_width{0.0};  ///< half-width of a 95 % interval, as the logarithm of a ratio

  friend bool operator==(const Disturbance&, const Disturbance&) = default;
};

struct ToolInfo {
  std::string version{};
  std::string commit{};
  std::string compiler{};

  friend bool operator==(const ToolInfo&, const ToolInfo&) = default;
};

struct HostInfo {
  std::string cpu{};
  std::string os{};
  std::string kernel{};
  std::int64_t logical_cpus{0};
  bool is_virtual{false};  ///< true on a virtual machine, whose host may have other tenants

  friend bool operator==(const HostInfo&, const HostInfo&) = default;
};

/// Source of an imported run: the results of another tool, without samples. Its points have the
/// fact `imported_ns` or `imported_bytes_per_second` (estimate.hpp).
struct ImportInfo {
  std::string tool{};    ///< name and, if known, version: "clpeak 2.1.2"
  std::string format{};  ///< "clpeak-xml", "mt4g-json", "size-latency", ...
  std::string file{};    ///< name of the file without folders

  friend bool operator==(const ImportInfo&, const ImportInfo&) = default;
};

/// Magnitudes of sane numbers other than 0. Powers and quotients of such numbers stay finite in the
/// analyses.
inline constexpr double min_magnitude = 1e-30;
inline constexpr double max_magnitude = 1e30;
bool is_sane(double number);

inline constexpr std::string_view run_schema_name = "clprobe-run";
inline constexpr int run_schema_version = 2;

/// One run on one device.
struct Run {
  ToolInfo tool{};
  std::string started{};  ///< UTC, "2026-01-02T03:04:05Z"
  std::vector<std::string> arguments{};
  std::uint64_t seed{0};
  bool interrupted{false};
  std::string label{};                   ///< name in reports instead of the device's; may be empty
  std::optional<ImportInfo> imported{};  ///< absent if clprobe measured
  HostInfo host{};
  DeviceInfo device{};
  std::vector<ProbeResult> results{};
  std::vector<Warning> warnings{};  ///< warnings about the device as a whole
  /// Reference points that belong to no probe.
  std::vector<Reference> references{};
  std::vector<Disturbance> disturbances{};

  friend bool operator==(const Run&, const Run&) = default;
};

/// Returns the usual direction of a unit's quantities: less time and fewer cycles are better, as
/// are higher rates per second or cycle.
Better usual_direction(std::string_view unit);

/// A run file could not be read: "results[0].points[3].samples[1].host_ns: expected an integer".
class RunFormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes one run as a JSON document (schema: tools/schema), several runs as an array. The text is
/// ASCII and ends with a newline. Bytes of a driver's string that are no UTF-8 become U+FFFD.
/// Throws std::invalid_argument when a number is not finite.
std::string to_json(std::span<const Run> runs);
/// Writes runs as a JSON array, a single run too.
std::string to_json_array(std::span<const Run> runs);

/// Reads the documents of `to_json`. Throws RunFormatError for anything unknown, with the JSON path
/// and the expected value on one line without control characters.
std::vector<Run> runs_from_json(std::string_view text);

/// Returns the JSON Schema (draft 7) of the documents of `to_json`, as in tools/schema.
std::string run_schema();

}  // namespace clprobe
