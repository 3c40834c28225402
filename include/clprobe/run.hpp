// SPDX-License-Identifier: Apache-2.0
// The run document: all measurements and conclusions of one run on one device.
//
// Samples are stored as measured. Most findings are conclusions, which `analyse` can derive again
// from the samples. Units are in the names of fields ("host_ns"), in types or in a field `unit`.
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
#include <utility>
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

/// Unit of a point's value and of most findings: the time of one access or launch, or a rate per
/// second. For rates, `Sample::accesses` counts bytes, operations or cycles.
enum class Unit { seconds, bytes_per_second, operations_per_second, hertz };
template <>
struct EnumWords<Unit> {
  static constexpr std::array table{
      Word{Unit::seconds, "seconds"}, Word{Unit::bytes_per_second, "bytes_per_second"},
      Word{Unit::operations_per_second, "operations_per_second"}, Word{Unit::hertz, "hertz"}};
};

/// Kind of chart for a probe's points.
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

/// Purpose of a finding. `lower_bound`: the device may reach more. `passing`: the value varies from
/// run to run (driver state, buffer addresses), so that a change requires several baseline runs and
/// several new runs. `remark`: describes the run instead of the device (such as the fit of a
/// model), and is not compared. `advice`: a sentence for programmers.
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

/// Part of the device in which a reference point detects disturbances.
enum class ReferenceKind { core, cache, memory, arithmetic };
template <>
struct EnumWords<ReferenceKind> {
  static constexpr std::array table{
      Word{ReferenceKind::core, "core"}, Word{ReferenceKind::cache, "cache"},
      Word{ReferenceKind::memory, "memory"}, Word{ReferenceKind::arithmetic, "arithmetic"}};
};

/// Origin of a warning. The engine records events of the run; the analysis derives warnings from
/// the samples and can be repeated.
enum class WarningSource { engine, analysis };
template <>
struct EnumWords<WarningSource> {
  static constexpr std::array table{Word{WarningSource::engine, "engine"},
                                    Word{WarningSource::analysis, "analysis"}};
};

/// One timed launch. `ticks` is the difference of two clock reads around the accesses. The driver's
/// events (`event_ns`) and the host's steady clock (`host_ns`) time the whole launch.
struct Sample {
  std::uint64_t accesses{0};
  /// Ticks of the device clock, including the overhead of the clock reads.
  std::optional<std::uint64_t> ticks{};
  std::optional<std::uint64_t> event_ns{};  ///< time from START to END of the launch's event
  std::uint64_t host_ns{0};                 ///< host time from enqueueing the launch to its end
  /// Checksum that the kernel computed and that the engine verifies.
  std::uint64_t witness{0};
  std::uint64_t visit{0};  ///< index of the visit, from 0

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// Marks points of a series that is measured only if another series requires it.
inline constexpr std::string_view follow_up = "follow_up";

/// One measured combination of parameters. The parameters identify the point. The facts are other
/// properties, from the plan or from the measurement.
struct Point {
  std::string series{};     ///< series of the point: "global", "constant-argument", ...
  Parameters parameters{};  ///< for example "working_set_bytes" and "step_bytes"
  Parameters facts{};       ///< for example "huge_page_percent" and "buffer_bytes"
  std::vector<Sample> samples{};
  std::string failure{};  ///< reason why the measurement failed; empty for success

  friend bool operator==(const Point&, const Point&) = default;
};

/// One conclusion. A finding without a value gives the reason in `reason`.
struct Finding {
  std::string name{};          ///< kind of the finding: "latency", "capacity", "step"
  std::string series{};        ///< series that the finding describes
  std::optional<int> level{};  ///< number of the level, from 1, fastest first
  std::optional<double> value{};
  std::optional<double> low{};  ///< lower end of the interval or bracket of the value
  std::optional<double> high{};
  std::string unit{};   ///< "seconds", "cycles", "bytes", ...; empty for plain numbers
  std::string label{};  ///< conclusion in a word: "cache", "tlb", "memory"
  Source source{Source::derived};
  std::string method{};  ///< method of the analysis: "segmentation", "slope", ...
  std::string reason{};  ///< reason for a missing value, or a warning about the value
  Role role{Role::fact};
  Better better{Better::unknown};
  /// Name of a larger finding, of any series, of which changes are judged as a share. If empty,
  /// changes are judged as a share of this finding's value, which must not be 0.
  std::string part_of{};
  bool holds_scatter{false};  ///< true if the interval includes the variation between visits
  /// True for a ratio of two times or rates that were measured at different moments, so that
  /// disturbances change each by itself. A latency times a throughput is such a ratio.
  bool is_ratio{false};
  /// Half-width of the 95 % interval for disturbances during the run, which [low, high] includes.
  /// It is the logarithm of a ratio, or a difference if the finding is a share.
  double disturbance{0.0};

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Memory that a level on a card belongs to. Columns and notes of other probes select levels by
/// this value.
enum class CardMemory { other, global, local };

/// A level of a memory hierarchy on a device's card. A field of type Finding is unknown if the
/// finding has no value or no unit.
struct CardLevel {
  std::string name{};  ///< name of the level: "global 2"
  Finding latency{};
  Finding cycles{};
  Finding capacity{};
  std::string what{};  ///< kind of the level: "cache, or its near half", "memory"
  /// Shorter form of `what` for narrow cards: "cache or half"; may be empty.
  std::string short_what{};
  CardMemory memory{CardMemory::other};
  bool may_be_tlb{false};  ///< may be the reach of a TLB instead of a cache
};

/// A line of a card, such as "bandwidth" with "read 4.55 TB/s (int4), copy 4.03 TB/s (int4)".
struct CardLine {
  std::string topic{};
  std::string text{};
  /// True for sentences, which are cut later than lists.
  bool is_sentence{false};
};

/// A value for working sets of more than `from` and up to `to` bytes.
struct CardPlateau {
  double from{0.0};
  double to{0.0};
  /// True if the plateau may continue beyond `to`, the largest measured working set.
  bool is_open{false};
  std::string text{};  ///< the value as text: "9.11 TB/s"
  Finding value{};
};

/// A column of the card's table of levels: another probe's values for the working sets of the
/// levels.
struct CardColumn {
  CardMemory memory{CardMemory::global};
  std::string title{};
  std::vector<CardPlateau> plateaus{};  ///< smallest working sets first
  /// Line shown instead of the column on cards without levels of `memory`.
  CardLine alone{};
  std::string series{};  ///< series of the findings
  /// False for values that only the description of the device needs.
  bool is_shown{true};
};

/// Another probe's remark on a memory, shown at the memory's first level.
struct CardNote {
  CardMemory memory{CardMemory::local};
  std::string text{};
  CardLine alone{};  ///< line shown instead of the note on cards without a level of `memory`
};

/// A named range of a plot along x, such as the working sets that fit a cache.
struct CardMark {
  std::string series{};
  double from{0.0};
  double to{0.0};
  bool is_open{false};  ///< true if the curve ends at `to` although the range continues
  std::string text{};   ///< label of the range: "global 1"
};

/// A point of a plot, at an x position that its parameters do not give.
struct CardPlotPoint {
  std::size_t point{0};  ///< index of the point in the probe's result
  double x{0.0};
  double accesses{1.0};  ///< number of accesses whose total time is drawn
};

/// A straight line through the points of a series in a plot: y = slope * x + offset, in the unit of
/// the plot.
struct CardTrend {
  std::string series{};
  double slope{0.0};
  double offset{0.0};
  std::string text{};  ///< label of the line: "1.05 w l k + 338"
};

/// A curve that is calculated from findings.
struct CardCurve {
  std::string name{};
  std::vector<std::pair<double, double>> points{};  ///< x and y, by increasing x
};

/// An additional chart: the times of `series`, or of `points`, or `curves`. The x axis is a
/// parameter, or the bandwidth of another series at the same value of that parameter.
struct CardPlot {
  std::string title{};                ///< title of the chart: "latency beside streams"
  std::vector<std::string> series{};  ///< series whose times are drawn
  std::string by{};                   ///< parameter or fact of the points
  std::string across_title{};         ///< title of the x axis: "bandwidth of the streams"
  /// Series whose bandwidth is on the x axis; empty if the parameter `by` is.
  std::string across{};
  double across_bytes{0.0};       ///< bytes per access of the series `across`
  std::vector<CardMark> marks{};  ///< named ranges; only if the parameter `by` is on the x axis
  /// Points to draw; if empty, all points of `series`. Points of one series with equal x are
  /// averaged.
  std::vector<CardPlotPoint> points{};
  std::vector<CardTrend> trends{};
  std::vector<CardCurve> curves{};  ///< curves to draw instead of points
  std::string across_unit{};        ///< unit of the x axis of `curves`
  std::string value_title{"time of an access"};
  /// "seconds", or "cycles" of the clock that timed the values; any unit for `curves`.
  std::string unit{"seconds"};
};

/// A probe's section of the device's card, made from findings with their final intervals. Run
/// documents do not contain cards.
struct Card {
  std::vector<CardLevel> levels{};
  std::vector<CardColumn> columns{};
  std::vector<CardNote> notes{};
  std::vector<CardLine> lines{};  ///< answers to the probe's question, most important first
  /// Findings in short form, for cards without room for a table.
  std::vector<CardLine> rows{};
  std::vector<std::string> unseen{};  ///< quantities that could not be observed, a few words each
  std::vector<CardPlot> plots{};      ///< charts for HTML pages
  /// Reach of each TLB, in bytes. They decide what levels with `may_be_tlb` are.
  std::vector<Finding> reaches{};
  /// Title of each series (Series::title) by the name of the series.
  std::map<std::string, std::string, std::less<>> titles{};

  // Cards are derived from findings. Comparisons of results compare the findings, so that all cards
  // count as equal.
  friend bool operator==(const Card&, const Card&) { return true; }
};

/// A warning: a code and its facts. Reports add the explanation and the advice.
struct Warning {
  std::string code{};
  Parameters facts{};
  WarningSource source{WarningSource::engine};

  friend bool operator==(const Warning&, const Warning&) = default;
};

/// Time of a reference point at one moment during the run.
struct Moment {
  double at_seconds{0.0};  ///< time since the start of the run
  double ns{0.0};          ///< time of one access, or of one byte if the reference measures a rate

  friend bool operator==(const Moment&, const Moment&) = default;
};

/// A point that is measured repeatedly during the run. A change of its time is not a property of
/// the device, but a disturbance of all measurements made at that time.
struct Reference {
  ReferenceKind kind{ReferenceKind::core};
  std::string series{};
  Parameters parameters{};
  std::vector<Moment> moments{};
  /// True for a reference in Run::references that measures a rate. For references of a result, the
  /// unit of the result indicates a rate instead.
  bool is_rate{false};
  double spent_seconds{0.0};  ///< total time spent on all moments

  friend bool operator==(const Reference&, const Reference&) = default;
};

/// Source and options of a built kernel.
struct KernelBuild {
  std::string sha256{};
  std::string options{};

  friend bool operator==(const KernelBuild&, const KernelBuild&) = default;
};

/// The chart of a result's points. If `x` is empty, the horizontal axis is the parameter that
/// varies most.
struct View {
  ViewKind kind{ViewKind::curve};
  std::string x{};                  ///< parameter on the horizontal axis: "working_set_bytes"
  std::string y{};                  ///< parameter on the vertical axis of a heat map
  std::string value_title{};        ///< title of the values: "time of an access", "bandwidth"
  Scale scale{Scale::logarithmic};  ///< scale of both axes
  std::string beside{};             ///< fact of the points, drawn on a second axis

  friend bool operator==(const View&, const View&) = default;
};

struct ProbeResult {
  std::string probe{};  ///< the probe's id
  int method{0};        ///< version of the probe's measurement (Probe::method); 0: unknown
  Unit unit{Unit::seconds};
  View view{};
  Status status{Status::ok};
  std::string reason{};  ///< reason for a status other than `ok`
  double elapsed_seconds{0.0};
  /// Share of the CPU time that other processes used while the probe measured, from 0 to 1.
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
  double seconds{0.0};     ///< median time of one access or one byte, over all moments
  bool is_rate{false};     ///< true if the reference measures a rate
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
  /// True on a virtual machine, which may share its host with other tenants.
  bool is_virtual{false};

  friend bool operator==(const HostInfo&, const HostInfo&) = default;
};

/// Origin of an imported run, which contains results of another tool without samples. Each point
/// has the fact `imported_ns` or `imported_bytes_per_second` (estimate.hpp).
struct ImportInfo {
  std::string tool{};    ///< name and, if known, version of the tool: "clpeak 2.1.2"
  std::string format{};  ///< "clpeak-xml", "mt4g-json", "size-latency", ...
  std::string file{};    ///< name of the imported file without folders

  friend bool operator==(const ImportInfo&, const ImportInfo&) = default;
};

/// Smallest and largest magnitude of a valid number, both included; 0 is also valid. Within this
/// range, powers and quotients in the analyses stay finite.
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
  /// Name in reports instead of the device's name; may be empty.
  std::string label{};
  /// Where and when a fleet's device was measured, as texts: "node", "slot", "rack", "campaign",
  /// "job". Usually empty.
  Parameters labels{};
  std::optional<ImportInfo> imported{};  ///< absent if clprobe measured the run
  HostInfo host{};
  DeviceInfo device{};
  std::vector<ProbeResult> results{};
  /// Results that a report leaves out, but whose levels name those of `results`. Not in documents.
  std::vector<ProbeResult> unshown{};
  std::vector<Warning> warnings{};  ///< warnings about the whole device
  /// Reference points that belong to the whole run instead of one probe.
  std::vector<Reference> references{};
  std::vector<Disturbance> disturbances{};

  friend bool operator==(const Run&, const Run&) = default;
};

/// Returns the usual direction of improvement for a unit: `less` for times and cycles, `more` for
/// rates, `unknown` for other units.
Better usual_direction(std::string_view unit);

/// Error of an unreadable run file: "results[0].points[3].samples[1].host_ns: expected an integer".
class RunFormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns one run as a JSON document (schema: tools/schema), or several runs as an array. The text
/// is ASCII and ends with a newline. Invalid UTF-8 in a driver's string becomes U+FFFD. Throws
/// std::invalid_argument for a number that is not finite.
std::string to_json(std::span<const Run> runs);
/// Returns the runs as a JSON array, even for a single run.
std::string to_json_array(std::span<const Run> runs);

/// Returns the runs of a document that `to_json` or `to_json_array` wrote. Throws RunFormatError
/// for unknown keys and invalid values, with the JSON path and the expected value on one line
/// without control characters.
std::vector<Run> runs_from_json(std::string_view text);

}  // namespace clprobe
