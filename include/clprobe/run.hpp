// SPDX-License-Identifier: Apache-2.0
// The run document: all measurements and conclusions of one run on one device.
//
// Samples are stored as measured. Findings are conclusions, which `analyse` can derive again from
// the samples. Units are part of the names. Values are SI base units, bytes or integers.
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

/// Unit of a point's value and of most findings: the time of one access, or a rate per second. For
/// rates, the accesses of a sample are bytes, operations or cycles.
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

/// Scale of a curve's axes. A linear scale shows small differences of similar values, such as a
/// clock over time.
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

/// Purpose of a finding. `lower_bound`: the device may reach more. `passing`: the cause varies from
/// run to run (a driver's state, the address of a buffer), so that only several runs per side show
/// a change. `remark`: describes the run instead of the device (such as the fit of a model), and is
/// not compared. `advice`: a sentence for programmers.
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

/// Origin of a warning: the engine, which records events of the run, or the analysis, which can be
/// repeated.
enum class WarningSource { engine, analysis };
template <>
struct EnumWords<WarningSource> {
  static constexpr std::array table{Word{WarningSource::engine, "engine"},
                                    Word{WarningSource::analysis, "analysis"}};
};

/// One timed launch. Two clock reads (`ticks`) enclose `accesses`. The driver's events (`event_ns`)
/// and the host's steady clock (`host_ns`) time the whole launch.
struct Sample {
  std::uint64_t accesses{0};
  /// Ticks of the device clock, including the overhead of reading it.
  std::optional<std::uint64_t> ticks{};
  std::optional<std::uint64_t> event_ns{};  ///< START to END of the launch
  std::uint64_t host_ns{0};                 ///< host time from enqueueing to the end
  std::uint64_t witness{0};                 ///< checksum of the kernel, which the engine verifies
  std::uint64_t visit{0};                   ///< number of the visit, from 0

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// Marks points whose series is measured only if another series requires it.
inline constexpr std::string_view follow_up = "follow_up";

/// One measured combination of parameters. Parameters identify the point. Facts are further
/// properties, from the plan or from the measurement.
struct Point {
  std::string series{};     ///< "global", "constant-argument", ...
  Parameters parameters{};  ///< "working_set_bytes", "step_bytes", ...
  Parameters facts{};       ///< "huge_page_percent", "buffer_bytes", ...
  std::vector<Sample> samples{};
  std::string failure{};  ///< reason why the measurement failed; empty for success

  friend bool operator==(const Point&, const Point&) = default;
};

/// One conclusion. A finding without a value has a `reason`.
struct Finding {
  std::string name{};          ///< "latency", "capacity", "step"
  std::string series{};        ///< series that the finding describes
  std::optional<int> level{};  ///< number of the level, nearest first, from 1
  std::optional<double> value{};
  std::optional<double> low{};  ///< lower end of the interval or bracket
  std::optional<double> high{};
  std::string unit{};   ///< "seconds", "cycles", "bytes", or empty
  std::string label{};  ///< conclusion in a word: "cache", "tlb", "memory"
  Source source{Source::derived};
  std::string method{};  ///< method of the analysis: "segmentation", "slope", ...
  std::string reason{};  ///< reason for a missing value
  Role role{Role::fact};
  Better better{Better::unknown};
  /// Name of a larger finding, of any series. Changes are judged as a share of that finding. Empty:
  /// as a share of this value, which must not be 0.
  std::string part_of{};
  bool holds_scatter{false};  ///< true if the interval includes the variation between visits
  /// Half-width of the 95 % interval for disturbances during the run, which this interval includes:
  /// the logarithm of a ratio, or a difference if the finding is a share.
  double disturbance{0.0};

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Memory of a level on a card. Columns and notes of other probes match levels by this value.
enum class CardMemory { other, global, local };

/// A level of a memory hierarchy on a device's card. Findings without a value or a unit are
/// unknown.
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

/// A value for working sets of more than `from` and up to `to` bytes.
struct CardPlateau {
  double from{0.0};
  double to{0.0};
  bool is_open{false};  ///< true if `to` is the largest measured set instead of the plateau's end
  std::string text{};   ///< "9.11 TB/s"
};

/// A column of the table of levels: another probe's values for the same working sets.
struct CardColumn {
  CardMemory memory{CardMemory::global};
  std::string title{};
  std::vector<CardPlateau> plateaus{};  ///< nearest first
  CardLine alone{};                     ///< replaces the column on cards without such levels
};

/// Another probe's remark on a memory, shown at its first level.
struct CardNote {
  CardMemory memory{CardMemory::local};
  std::string text{};
  CardLine alone{};  ///< replaces the note on cards without such a level
};

/// A named range of a plot along x, such as the working sets that fit a cache.
struct CardMark {
  std::string series{};
  double from{0.0};
  double to{0.0};
  bool is_open{false};  ///< true if the curve ends at `to` while the range continues
  std::string text{};   ///< "global 1"
};

/// A point of a plot with its own x position.
struct CardPlotPoint {
  std::size_t point{0};  ///< index of the result's point
  double x{0.0};
  double accesses{1.0};  ///< the drawn time is the total of this number of accesses
};

/// A straight line through the points of a plot's series: y = slope * x + offset, in the unit of
/// the plot.
struct CardTrend {
  std::string series{};
  double slope{0.0};
  double offset{0.0};
  std::string text{};  ///< "1.05 w l k + 338"
};

/// An additional chart: the times of some series, or of `points`. The x axis is a parameter, or the
/// bandwidth of another series at the same value of that parameter.
struct CardPlot {
  std::string title{};                ///< "latency beside streams"
  std::vector<std::string> series{};  ///< series whose times are drawn
  std::string by{};                   ///< parameter or fact of the points
  std::string across_title{};         ///< title of the x axis: "bandwidth of the streams"
  std::string across{};               ///< series on the x axis; empty: the parameter
  double across_bytes{0.0};           ///< bytes per access of the series on the x axis
  std::vector<CardMark> marks{};      ///< named ranges, if the parameter is on the x axis
  /// The points to draw; empty: all points of the series. Points of a series with equal x are
  /// averaged.
  std::vector<CardPlotPoint> points{};
  std::vector<CardTrend> trends{};
  std::string value_title{"time of an access"};
  std::string unit{"seconds"};  ///< "seconds", or "cycles" of the clock that timed the values
};

/// A probe's section of the device's card, made from findings with their final intervals. Documents
/// do not store cards.
struct Card {
  std::vector<CardLevel> levels{};
  std::vector<CardColumn> columns{};
  std::vector<CardNote> notes{};
  std::vector<CardLine> lines{};  ///< answers, most important first
  /// Findings in short form, for cards without room for a table.
  std::vector<CardLine> rows{};
  std::vector<std::string> unseen{};  ///< quantities that could not be observed, a few words each
  std::vector<CardPlot> plots{};      ///< charts of pages
  /// Titles of series (Series::title) by name.
  std::map<std::string, std::string, std::less<>> titles{};

  // Cards with equal findings are equal.
  friend bool operator==(const Card&, const Card&) { return true; }
};

/// A code with its facts. Reports add the prose and the advice.
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

/// A point that is measured repeatedly during the run. Changes of its time are not a property of
/// the device, and disturb all measurements made meanwhile.
struct Reference {
  ReferenceKind kind{ReferenceKind::core};
  std::string series{};
  Parameters parameters{};
  std::vector<Moment> moments{};
  /// True for a reference that measures a rate although the result's unit is seconds: all compute
  /// units work on the point.
  bool is_rate{false};
  double spent_seconds{0.0};  ///< total time of all moments

  friend bool operator==(const Reference&, const Reference&) = default;
};

/// Source and options of a built kernel.
struct KernelBuild {
  std::string sha256{};
  std::string options{};

  friend bool operator==(const KernelBuild&, const KernelBuild&) = default;
};

/// The chart of a result's points. With an empty `x`, the parameter that varies most is on the
/// axis.
struct View {
  ViewKind kind{ViewKind::curve};
  std::string x{};                  ///< parameter on the horizontal axis: "working_set_bytes"
  std::string y{};                  ///< parameter on the vertical axis of a heat map
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
  /// Share of a CPU's time that other processes used while the probe measured.
  double others_share{0.0};
  std::vector<KernelBuild> kernels{};
  std::vector<Point> points{};
  std::vector<Finding> findings{};
  std::vector<Warning> warnings{};
  std::vector<Reference> references{};
  Card card{};

  friend bool operator==(const ProbeResult&, const ProbeResult&) = default;
};

/// Disturbance of a run, according to one reference point.
struct Disturbance {
  std::string probe{};
  std::string series{};
  ReferenceKind kind{ReferenceKind::core};
  double seconds{0.0};     ///< median time of one access or byte over all moments
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

/// Source of an imported run: results of another tool without samples. The points have the fact
/// `imported_ns` or `imported_bytes_per_second` (estimate.hpp).
struct ImportInfo {
  std::string tool{};    ///< name and, if known, version: "clpeak 2.1.2"
  std::string format{};  ///< "clpeak-xml", "mt4g-json", "size-latency", ...
  std::string file{};    ///< name of the file without folders

  friend bool operator==(const ImportInfo&, const ImportInfo&) = default;
};

/// Magnitude range of valid numbers other than 0. Powers and quotients of such numbers stay finite
/// in the analyses.
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
  std::vector<Warning> warnings{};  ///< warnings about the whole device
  /// Reference points that belong to no probe.
  std::vector<Reference> references{};
  std::vector<Disturbance> disturbances{};

  friend bool operator==(const Run&, const Run&) = default;
};

/// Returns the usual direction of improvement for a unit: less time and fewer cycles, or higher
/// rates.
Better usual_direction(std::string_view unit);

/// Error of an unreadable run file: "results[0].points[3].samples[1].host_ns: expected an integer".
class RunFormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes one run as a JSON document (schema: tools/schema), several runs as an array. The text is
/// ASCII and ends with a newline. Invalid UTF-8 of a driver's string becomes U+FFFD. Throws
/// std::invalid_argument for a number that is not finite.
std::string to_json(std::span<const Run> runs);
/// Writes runs as a JSON array, even a single run.
std::string to_json_array(std::span<const Run> runs);

/// Reads the documents of `to_json`. Throws RunFormatError for anything unknown, with the JSON path
/// and the expected value on one line without control characters.
std::vector<Run> runs_from_json(std::string_view text);

}  // namespace clprobe
