// SPDX-License-Identifier: Apache-2.0
// The command line as checked values. Nothing here touches the system.
#pragma once

#include <array>
#include <chrono>
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

#include "app/terminal/terminal.hpp"
#include "clprobe/probe.hpp"
#include "present/api/report.hpp"
#include "text/api/text.hpp"

namespace clprobe::cli {

enum class Command {
  measure,
  list,
  explain,
  report,
  compare,
  live,  ///< `compare --live`
  import,
  profile,
  generate,
  version,
  help,
  complete,  ///< `--complete`, which the shells' scripts call
  worker
};

/// Verdicts that make `compare` end with exit code 4.
enum class FailOn { never, worse, changed };

/// Units of an imported list of sizes and latencies; `unknown`: those of its header.
enum class SizeUnit { unknown, bytes, kibibytes, mebibytes };
enum class TimeUnit { unknown, nanoseconds, microseconds, cycles };

using ColourMode = terminal::ColourMode;

/// Target of one rendering: a path, or "-" for stdout.
struct Output {
  std::string path{};
  const Writer* format{writers().front()};

  friend bool operator==(const Output&, const Output&) = default;
};

/// Options of one probe.
struct ProbeOptions {
  std::vector<std::string> series{};
  OptionValues own{};
};

struct Options {
  Command command{Command::measure};
  std::vector<std::string> words{};   ///< probes, files, or what follows `explain` or --generate
  std::string device{};               ///< as typed; empty: the best device
  std::vector<std::string> labels{};  ///< of the runs, in their order
  std::vector<Output> outputs{};      ///< -o; stdout gets `format` unless one of them is "-"
  const Writer* format{writers().front()};
  std::map<std::string, ProbeOptions, std::less<>> of_probe{};  ///< by id
  Bytes max_memory{};
  Effort effort{Effort::normal};
  std::uint64_t seed{42};
  std::optional<std::chrono::duration<double>> time_budget{};  ///< all probes of one device
  std::chrono::milliseconds timeout{30'000};                   ///< for one answer of a driver
  std::optional<ClockKind> clock{};  ///< the only clock to try; nothing: the ladder
  bool dry_run{false};
  bool full{false};          ///< of `explain`: the whole page
  bool list_kernels{false};  ///< of `profile`: only survey the program
  bool with_secrets{false};  ///< of `profile`: store the program's arguments in full
  ColourMode colour{ColourMode::automatic};
  int verbosity{0};  ///< -1 quiet, 0, 1 verbose

  std::size_t first_side{0};  ///< of `compare`: number of `words` before `--`; 0: no sides
  std::string baseline{};     ///< of `compare`: a file; empty: the first run
  double threshold{0.03};     ///< of `compare`: changes up to this share are ignored
  FailOn fail_on{FailOn::never};

  std::string other_device{};  ///< of `compare --live`: side B's; empty: as side A's
  /// Additional environment variables of sides A and B of `compare --live`.
  std::array<std::vector<std::pair<std::string, std::string>>, 2> environments{};
  std::string runs_file{};         ///< of `compare --live`: target of both sides' runs
  std::vector<std::string> app{};  ///< of `profile`: the program and its arguments
  std::string kernel{};  ///< of `profile`: the only kernel to capture; empty: the important ones
  std::uint64_t kernel_launch{0};  ///< its launch to capture, from 1; 0: a typical one
  std::string keep_folder{};       ///< of `profile`: where to keep bundles; empty: nowhere
  std::string headers_folder{};    ///< of `profile`: files that kernels may include
  std::string kernel_file{};       ///< of `profile`: a kernel without a program
  std::string launch_file{};       ///< description of its launch
  std::string levels_file{};       ///< of `profile`: a document with levels; empty: none
  std::vector<Run> levels_runs{};  ///< the runs of `levels_file`
  std::vector<bundle::Source>
      sources{};  ///< of replayed launches: files that the child process reads
  std::vector<AskedLaunch> launches{};      ///< the replayed launches
  std::vector<AskedTrace> traces{};         ///< traces that probes' options name
  std::vector<std::string> shown_probes{};  ///< of `report` and `compare`; empty: all
  std::string series{};       ///< of `report`: a comma list to show; of `import`: series of a list
  std::string device_name{};  ///< of `import`: if the file has none
  SizeUnit size_unit{SizeUnit::unknown};
  TimeUnit time_unit{TimeUnit::unknown};
  double clock_hertz{0.0};  ///< of `import`: of the measured device; 0: that of the file
};

/// A usage error: one line that says what was wrong and what to do. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses the words after the program's name. Throws UsageError. --help is stronger than --version,
/// and both are stronger than commands and words; `clprobe PROBE --help` leaves the probes in
/// `words`.
Options parse(const std::vector<std::string>& arguments, std::span<const Probe* const> probes);

/// The request to a probe: its own options and the global ones.
Request request_for(const Probe& probe, const Options& options);

// Texts of --help and the man page.
std::string help_text(std::span<const Probe* const> probes);
std::string probe_help(const Probe& probe);
/// Describes a command and its options. Throws std::invalid_argument for an unknown command.
std::string command_help(std::string_view command);
std::string man_page(std::span<const Probe* const> probes);

/// The first word of a request for completions of the words that follow it.
inline constexpr std::string_view completion_flag = "--complete";

struct Described {
  std::string word{};
  std::string description{};
};

/// The words that can be completed besides commands and flags.
struct Completed {
  std::span<const Probe* const> probes{};
  std::function<std::vector<Described>()> devices{};  ///< values of --device
  std::vector<std::string_view> terms{};  ///< what explain knows besides probes: "cache or far"
};

/// Completes the last of the words that follow the program's name. The first line of the result is
/// "words", "list" (a comma may follow) or "files" (names of files may follow as well). Each other
/// line is a candidate, a tab and its description.
std::string complete(std::span<const std::string> words, const Completed& known);
/// The script that makes a shell ask `clprobe --complete`. Throws std::invalid_argument unless
/// `shell` is "bash", "zsh" or "fish".
std::string completion_script(std::string_view shell);

using clprobe::nearest;

}  // namespace clprobe::cli
