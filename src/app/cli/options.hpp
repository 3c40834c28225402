// SPDX-License-Identifier: Apache-2.0
// Checked values of the command line. The functions of this file do not access the system.
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
  describe,
  doctor,
  fleet_report,  ///< `fleet report`
  compare,
  live,  ///< `compare --live`
  import,
  profile,
  generate,
  version,
  help,
  complete,  ///< `--complete`, called by the completion scripts
  worker
};

/// Results that make `compare` (worse, changed) and `fleet report` (slow, suspect, missing) end
/// with exit code 4.
enum class FailOn { never, worse, changed, slow, suspect, missing };

/// Units of an imported list of sizes and latencies. `unknown`: the header of the list names the
/// unit.
enum class SizeUnit { unknown, bytes, kibibytes, mebibytes };
enum class TimeUnit { unknown, nanoseconds, microseconds, cycles };

using ColourMode = terminal::ColourMode;

/// Output file with its format; the path "-" is stdout.
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
  std::vector<std::string> words{};  ///< arguments of the command, such as probes or files
  std::string device{};              ///< device as typed, or CLPROBE_DEVICE; empty: the best device
  std::vector<std::string> labels{};  ///< labels of the runs, in the order of the runs
  Parameters places{};                ///< where the devices of all runs are: "node", "slot", ...
  std::vector<Output> outputs{};      ///< files of -o; stdout gets `format` unless a path is "-"
  const Writer* format{writers().front()};
  std::map<std::string, ProbeOptions, std::less<>> of_probe{};  ///< options of probes, by id
  Bytes max_memory{};
  Effort effort{Effort::normal};
  std::uint64_t seed{42};
  std::optional<std::chrono::duration<double>> time_budget{};  ///< time for all probes of a device
  std::chrono::milliseconds timeout{30'000};  ///< maximum time to wait for a response of the driver
  std::optional<ClockKind> clock{};  ///< the only clock to try; nothing: all clocks, one by one
  bool dry_run{false};
  bool full{false};          ///< `explain`: print the whole page
  bool list_kernels{false};  ///< `profile`: only list the kernels
  bool with_secrets{false};  ///< `profile`: store arguments without hiding secrets
  ColourMode colour{ColourMode::automatic};
  int verbosity{0};  ///< -1: quiet (-q), 0: usual, 1: verbose (-v)

  std::size_t first_side{0};  ///< `compare`: number of baseline files (before `--`); 0: no `--`
  std::string baseline{};     ///< `compare`: baseline file; empty: the first run
  double threshold{0.03};     ///< `compare`: relative changes up to this share are ignored
  FailOn fail_on{FailOn::never};

  std::string reference{};           ///< `fleet report`: good devices, a file or folder
  std::vector<std::string> nodes{};  ///< `fleet report`: expected nodes; empty: unknown
  std::size_t expected_devices{0};   ///< `fleet report`: expected devices; 0: unknown
  bool only_suspects{false};         ///< `fleet report`: print only the host list

  std::string other_device{};  ///< `compare --live`: device of side B; empty: the device of A
  /// Additional environment variables of sides A and B of `compare --live`.
  std::array<std::vector<std::pair<std::string, std::string>>, 2> environments{};
  std::string
      runs_file{};  ///< `compare --live`: output file for the baseline runs and the new runs
  std::vector<std::string> app{};  ///< `profile`: the application to run, with its arguments
  std::string kernel{};  ///< `profile`: the only kernel to capture; empty: important kernels
  std::uint64_t kernel_launch{0};  ///< launch of `kernel` to capture, from 1; 0: a typical launch
  std::string keep_folder{};       ///< `profile`: folder for captured launches; empty: none
  std::string headers_folder{};    ///< `profile`: folder of files that kernels may include
  std::string kernel_file{};       ///< `profile`: OpenCL C file of a kernel to launch by itself
  std::string launch_file{};       ///< `profile`: file that describes the launch of `kernel_file`
  std::string levels_file{};       ///< `profile`: run document with memory levels; empty: none
  std::vector<Run> levels_runs{};  ///< runs in `levels_file`
  std::vector<bundle::Source>
      sources{};  ///< files of replayed launches, which the child process reads
  std::vector<AskedLaunch> launches{};      ///< launches to replay
  std::vector<AskedTrace> traces{};         ///< traces named by options of probes
  std::vector<std::string> shown_probes{};  ///< `report`, `compare`: probes to show; empty: all
  std::string series{};       ///< `report`: comma list of series to show; `import`: series name
  std::string device_name{};  ///< `import`: name of the device if the file lacks it
  SizeUnit size_unit{SizeUnit::unknown};
  TimeUnit time_unit{TimeUnit::unknown};
  double clock_hertz{0.0};  ///< `import`: clock rate in Hz; 0: taken from the file
};

/// Usage error with exit code 2. The text is a line that names the error and the remedy.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses the command line without the program's name. Throws UsageError. --help overrides
/// --version, and both flags override commands and words. After --help, `Options::words` has the
/// command or the probes to describe.
Options parse(const std::vector<std::string>& arguments, std::span<const Probe* const> probes);

/// Returns the request to a probe: the probe's options and the global options.
Request request_for(const Probe& probe, const Options& options);

// Texts of --help and the man page.
std::string help_text(std::span<const Probe* const> probes);
std::string probe_help(const Probe& probe);
/// Returns the help text of a command and its options. Throws std::invalid_argument for an unknown
/// command.
std::string command_help(std::string_view command);
std::string man_page(std::span<const Probe* const> probes);

/// First word of a request for completions. The words of the command line follow; the last of them
/// is the word to complete.
inline constexpr std::string_view completion_flag = "--complete";

struct Described {
  std::string word{};
  std::string description{};
};

/// Words that can be completed in addition to commands and flags.
struct Completed {
  std::span<const Probe* const> probes{};
  std::function<std::vector<Described>()> devices{};  ///< returns the values of --device
  std::vector<std::string_view>
      terms{};  ///< words that `explain` accepts in addition to probes, such as "cache or far"
};

/// Returns the completions of the last word in `words`, the command line without the program's
/// name. The first line of the result is "words", "list" (the word is part of a comma list) or
/// "files" (the word may also be a file name). Every further line is a candidate, a tab and the
/// candidate's description.
std::string complete(std::span<const std::string> words, const Completed& known);
/// Returns the script that makes a shell call `clprobe --complete`. Throws std::invalid_argument
/// unless `shell` is "bash", "zsh" or "fish".
std::string completion_script(std::string_view shell);

using clprobe::nearest;

}  // namespace clprobe::cli
