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

namespace clprobe {

/// Where a number comes from.
enum class Source { measured, reported, derived };

/// How a probe, or the whole run, ended.
enum class Status { ok, unsupported, unobservable, failed, interrupted };

/// What a point's value and most findings are in: the time of one access, or what moves or happens
/// in a second. Of rates, a sample's accesses are what is counted (bytes, operations, cycles).
enum class Unit { seconds, bytes_per_second, operations_per_second, hertz };

/// How the points of a probe are best seen.
enum class ViewKind { curve, heat_map, stacks };

/// How values lie on the axes of a curve: a linear one shows small differences between values that
/// are much alike, as of a clock over time.
enum class Scale { logarithmic, linear };

/// Which change of a finding is an improvement.
enum class Better { unknown, less, more };

/// What a finding is for. `lower_bound`: the device may well do more. `passing`: what decides it
/// stays for a run and is another in the next (a driver's state, where a buffer lies), so that only
/// several runs a side tell a change. `remark`: about this run and not about the device (how well a
/// model fits), so that no two runs are compared by it. `advice`: a sentence for programmers.
enum class Role { fact, headline, lower_bound, passing, remark, advice };

/// What a reference point stands for: what is near the cores, the caches, or the memory.
enum class ReferenceKind { core, cache, memory, arithmetic };

/// Who raised a warning: the engine, from what happened, or the analysis, which can be made again.
enum class WarningSource { engine, analysis };

/// One timed launch. `accesses` were timed between two clock reads (`ticks`), and the launch as a
/// whole by the driver's events (`event_ns`) and the host's steady clock (`host_ns`).
struct Sample {
  std::uint64_t accesses{0};
  std::optional<std::uint64_t> ticks{};  ///< device clock, the empty clock pair not yet subtracted
  std::optional<std::uint64_t> event_ns{};  ///< START to END of the launch
  std::uint64_t host_ns{0};                 ///< enqueue to finish, as the host saw it
  std::uint64_t witness{0};                 ///< what the kernel computed; checked by the engine
  std::uint64_t visit{0};                   ///< which visit of the point this was: 0, 1, 2, ...

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// A fact of points whose series is measured only where another one calls for it.
inline constexpr std::string_view follow_up = "follow_up";

/// One combination of parameters that is measured. Parameters tell which point it is; facts are
/// what else is known of it: planned along with it, or found while preparing and measuring.
struct Point {
  std::string series{};     ///< "global", "constant-argument", ...
  Parameters parameters{};  ///< "working_set_bytes", "step_bytes", ...
  Parameters facts{};       ///< "huge_page_percent", "buffer_bytes", ...
  std::vector<Sample> samples{};
  std::string failure{};  ///< why it could not be measured; empty when it was

  friend bool operator==(const Point&, const Point&) = default;
};

/// One conclusion. Without a value it says that nothing can be said, and `reason` says why.
struct Finding {
  std::string name{};          ///< "latency", "capacity", "step"
  std::string series{};        ///< the series that it is about
  std::optional<int> level{};  ///< 1 is the nearest level
  std::optional<double> value{};
  std::optional<double> low{};  ///< lower end of the interval or bracket
  std::optional<double> high{};
  std::string unit{};   ///< "seconds", "cycles", "bytes", or empty
  std::string label{};  ///< a word where the conclusion is one: "cache", "tlb", "memory"
  Source source{Source::derived};
  std::string method{};  ///< how it was found: "segmentation", "slope", ...
  std::string reason{};  ///< why there is no value
  Role role{Role::fact};
  Better better{Better::unknown};
  /// The finding, of any series, of which a change of this one is judged as a share: what costs
  /// more by a difference that may be 0 has no ratio. Empty: of itself.
  std::string part_of{};
  bool holds_scatter{false};  ///< by how much visits differ is in its interval
  /// Of what changed while the run lasted, half a 95 % interval, as the logarithm of a ratio (of a
  /// share as a difference), that is in this one.
  double disturbance{0.0};

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// The memory that a level on a card is of. What one probe says of it meets the levels of another
/// by that.
enum class CardMemory { other, global, local };

/// A level of a memory hierarchy on a device's card. A part without a value or a unit is not known.
struct CardLevel {
  std::string name{};  ///< "global 2"
  Finding latency{};
  Finding cycles{};
  Finding capacity{};
  std::string what{};  ///< "cache, or its near half", "memory"
  std::string
      short_what{};  ///< where there is no room for it: "cache or half"; empty: there always is
  CardMemory memory{CardMemory::other};
};

/// "bandwidth", "read 4.55 TB/s (int4), copy 4.03 TB/s (int4)".
struct CardLine {
  std::string topic{};
  std::string text{};
};

/// What is the same for all working sets of more than `from` bytes and up to `to`.
struct CardPlateau {
  double from{0.0};
  double to{0.0};
  bool is_open{false};  ///< whether `to` is the largest that was measured, and no end of it
  std::string text{};   ///< "9.11 TB/s"
};

/// A column of the table of levels: what another probe says of the same working sets.
struct CardColumn {
  CardMemory memory{CardMemory::global};
  std::string title{};
  std::vector<CardPlateau> plateaus{};  ///< the nearest first
  CardLine alone{};                     ///< stands on a card where no level has anything of it
};

/// What another probe says of a memory, beside its first level.
struct CardNote {
  CardMemory memory{CardMemory::local};
  std::string text{};
  CardLine alone{};  ///< stands on a card without such a level
};

/// A part of a plot's curve along x that has a name: the working sets that a cache holds.
struct CardMark {
  std::string series{};
  double from{0.0};
  double to{0.0};
  bool is_open{false};  ///< whether `to` is where the curve ends, and the part does not
  std::string text{};   ///< "global 1"
};

/// A point of a plot that says itself where it lies across.
struct CardPlotPoint {
  std::size_t point{0};  ///< of the result's
  double x{0.0};
  double accesses{1.0};  ///< whose time together is drawn
};

/// The straight line that was found through the points of a plot's series: y = slope * x + offset,
/// in the plot's unit.
struct CardTrend {
  std::string series{};
  double slope{0.0};
  double offset{0.0};
  std::string text{};  ///< "1.05 w l k + 338"
};

/// A chart beside that of the view: the times of some series over a parameter, or over the
/// bandwidths of another series at the same value of that parameter, or of `points`.
struct CardPlot {
  std::string title{};                ///< "latency beside streams"
  std::vector<std::string> series{};  ///< whose times are drawn
  std::string by{};                   ///< the parameter, or a fact that the points have
  std::string across_title{};         ///< what lies across: "bandwidth of the streams"
  std::string across{};               ///< the other series; empty: the parameter lies across
  double across_bytes{0.0};           ///< that an access of the other series moves
  std::vector<CardMark> marks{};      ///< of those whose parameter lies across
  /// Where there are any, only they are drawn; of a series' points at one place across, the mean.
  std::vector<CardPlotPoint> points{};
  std::vector<CardTrend> trends{};
  std::string value_title{"time of an access"};
  std::string unit{"seconds"};  ///< of the values; else "cycles" of the clock that timed them
};

/// What of a result stands on the card of its device. Its probe makes it of the findings once they
/// have the intervals that are shown; it is in no document.
struct Card {
  std::vector<CardLevel> levels{};
  std::vector<CardColumn> columns{};
  std::vector<CardNote> notes{};
  std::vector<CardLine> lines{};      ///< the answers, the first ones first
  std::vector<CardLine> rows{};       ///< the findings in short, where there is no room for a table
  std::vector<std::string> unseen{};  ///< what could not be seen, a few words each
  std::vector<CardPlot> plots{};      ///< of pages
  /// Titles of series (Series::title) by their names.
  std::map<std::string, std::string, std::less<>> titles{};

  // Results differ by what it was made of.
  friend bool operator==(const Card&, const Card&) { return true; }
};

/// A code with its facts; the prose, with advice, is written by the reports.
struct Warning {
  std::string code{};
  Parameters facts{};
  WarningSource source{WarningSource::engine};

  friend bool operator==(const Warning&, const Warning&) = default;
};

/// What a reference point took at one moment of the run.
struct Moment {
  double at_seconds{0.0};  ///< since the run began
  double ns{0.0};          ///< of one access (bytes of a rate)

  friend bool operator==(const Moment&, const Moment&) = default;
};

/// A point that is measured over and over while the run lasts: what changes is no property of the
/// device, and disturbs all that is measured meanwhile.
struct Reference {
  ReferenceKind kind{ReferenceKind::core};
  std::string series{};
  Parameters parameters{};
  std::vector<Moment> moments{};
  bool is_rate{false};        ///< of a result whose points are times: work of all units
  double spent_seconds{0.0};  ///< on all its moments together

  friend bool operator==(const Reference&, const Reference&) = default;
};

/// The source and options that a kernel was built from.
struct KernelBuild {
  std::string sha256{};
  std::string options{};

  friend bool operator==(const KernelBuild&, const KernelBuild&) = default;
};

/// How the points of a result are drawn. An empty `x`: the parameter that varies most.
struct View {
  ViewKind kind{ViewKind::curve};
  std::string x{};                  ///< the parameter across: "working_set_bytes"
  std::string y{};                  ///< the parameter down, of a heat map
  std::string value_title{};        ///< "time of an access", "bandwidth"
  Scale scale{Scale::logarithmic};  ///< of both axes
  std::string beside{};             ///< a fact of the points, drawn on an axis of its own

  friend bool operator==(const View&, const View&) = default;
};

struct ProbeResult {
  std::string probe{};  ///< the probe's id
  int method{0};        ///< version of what the probe measures; 0: an older document, without one
  Unit unit{Unit::seconds};
  View view{};
  Status status{Status::ok};
  std::string reason{};  ///< why not ok
  double elapsed_seconds{0.0};
  double others_share{0.0};  ///< of a CPU: of its cores' time while the probe measured
  std::vector<KernelBuild> kernels{};
  std::vector<Point> points{};
  std::vector<Finding> findings{};
  std::vector<Warning> warnings{};
  std::vector<Reference> references{};
  Card card{};

  friend bool operator==(const ProbeResult&, const ProbeResult&) = default;
};

/// By how much something else than what was varied changed what one reference point took.
struct Disturbance {
  std::string probe{};
  std::string series{};
  ReferenceKind kind{ReferenceKind::core};
  double seconds{0.0};     ///< of one access (byte), the middle one of its moments
  bool is_rate{false};     ///< whether its probe measures bytes a second
  double half_width{0.0};  ///< of a 95 % interval, as the logarithm of a ratio

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
  bool is_virtual{false};  ///< a virtual machine, whose host others may use as well

  friend bool operator==(const HostInfo&, const HostInfo&) = default;
};

/// What an imported run was made from: the results of another tool, which gives no samples. Points
/// then carry `imported_ns` or `imported_bytes_per_second` (estimate.hpp) among their parameters.
struct ImportInfo {
  std::string tool{};    ///< with its version where the file says it: "clpeak 2.1.2"
  std::string format{};  ///< "clpeak-xml", "mt4g-json", "size-latency", ...
  std::string file{};    ///< its name without folders

  friend bool operator==(const ImportInfo&, const ImportInfo&) = default;
};

/// A number of a document that is neither 0 nor of a magnitude between these is no quantity of a
/// device: the powers and quotients that analyses make of sane ones are finite.
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
  std::string label{};  ///< what reports call it in place of its device; empty: nothing
  std::optional<ImportInfo> imported{};  ///< absent where clprobe measured
  HostInfo host{};
  DeviceInfo device{};
  std::vector<ProbeResult> results{};
  std::vector<Warning> warnings{};  ///< about the device as a whole
  /// Points of none of the probes, which are measured beside them.
  std::vector<Reference> references{};
  std::vector<Disturbance> disturbances{};

  friend bool operator==(const Run&, const Run&) = default;
};

/// The word that stands for an enumerator in documents and reports, and back.
/// `from_word` gives nothing for a word that it does not know.
std::string_view to_word(Source value);
std::string_view to_word(Status value);
std::string_view to_word(ClockKind value);
std::string_view to_word(ClockRate value);
std::string_view to_word(Timer value);
std::string_view to_word(DeviceType value);
std::string_view to_word(Unit value);
std::string_view to_word(ViewKind value);
std::string_view to_word(Scale value);
std::string_view to_word(Better value);
std::string_view to_word(Role value);
std::string_view to_word(WarningSource value);
std::string_view to_word(ReferenceKind value);
template <typename Enum>
std::optional<Enum> from_word(std::string_view word);
/// Every word of an enumeration, for messages that say what was expected.
template <typename Enum>
std::vector<std::string_view> all_words();

/// The direction that most quantities of a unit have: less time and fewer cycles are better, and
/// more of anything per second or cycle is.
Better usual_direction(std::string_view unit);

/// A run file could not be read: "results[0].points[3].samples[1].host_ns: expected an integer".
class RunFormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One run as a JSON document (schema: tools/schema), or several as an array of them. In ASCII and
/// with a newline at the end; bytes of a driver's string that are no UTF-8 become U+FFFD.
/// Throws std::invalid_argument when a number is not finite.
std::string to_json(std::span<const Run> runs);
/// The same as an array, of one run too.
std::string to_json_array(std::span<const Run> runs);

/// Reads what `to_json` writes. Strict: refuses what it does not know, with the JSON path and what
/// was expected, on one line without control characters. Throws RunFormatError.
std::vector<Run> runs_from_json(std::string_view text);

/// The JSON Schema (draft 7) of what `to_json` writes, as in tools/schema.
std::string run_schema();

}  // namespace clprobe
