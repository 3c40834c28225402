// SPDX-License-Identifier: Apache-2.0
// Table of flags.
#include "app/cli/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/values.hpp"
#include "fleet/api/fleet.hpp"
#include "text/api/text.hpp"

namespace clprobe::cli {
namespace {

using Text = std::string_view;

// Sets of commands that accept a flag.
constexpr unsigned measuring = bit(Command::measure);
constexpr unsigned live = bit(Command::live);
constexpr unsigned profiling = bit(Command::profile);
constexpr unsigned describing = bit(Command::describe);
constexpr unsigned checking = bit(Command::doctor);
constexpr unsigned with_probes = measuring | describing | checking | live;
constexpr unsigned with_devices = with_probes | bit(Command::list);
constexpr unsigned comparing = bit(Command::compare) | live;
constexpr unsigned importing = bit(Command::import);
constexpr unsigned reporting_fleets = bit(Command::fleet_report);
constexpr unsigned with_results =
    measuring | bit(Command::report) | comparing | importing | reporting_fleets;
constexpr unsigned everywhere = with_devices | with_results | profiling | bit(Command::explain);

// Choices of flags. Words that choose() converts are in the order of their enumerators.
constexpr std::array<std::string_view, 3> colour_words{"auto", "always", "never"};
// Words of --clock: "auto", and the words of ClockKind.
constexpr std::array<std::string_view, 8> clock_words{"auto",
                                                      "none",
                                                      "khr-device",
                                                      "khr-sub-group",
                                                      "nvidia-clock64",
                                                      "amd-cycle-counter",
                                                      "intel-cycle-counter",
                                                      "cpu-cycle-counter"};
constexpr std::array<std::string_view, 6> fail_on_words{"never", "worse",   "changed",
                                                        "slow",  "suspect", "missing"};
constexpr std::array<std::string_view, 4> size_unit_words{"auto", "B", "KiB", "MiB"};
constexpr std::array<std::string_view, 4> time_unit_words{"auto", "ns", "us", "cycles"};
constexpr std::array<std::string_view, 6> generate_words{"man",  "bash",   "zsh",
                                                         "fish", "schema", "device-schema"};

constexpr std::uint64_t max_seed = std::numeric_limits<std::uint64_t>::max();

template <auto member>
void store(Options& options, Text text) {
  options.*member = text;
}

template <auto member, auto read>
void store(Options& options, Text text) {
  options.*member = read(text);
}

template <auto member, auto value>
void set(Options& options, Text /*text*/) {
  options.*member = value;
}

template <auto member, const auto& words>
void choose(Options& options, Text value) {
  using Enum = std::remove_reference_t<decltype(options.*member)>;
  options.*member = static_cast<Enum>(std::ranges::find(words, value) - words.begin());
}

/// Adds an environment variable to a side of `compare --live`. Throws UsageError unless `text` is
/// "NAME=VALUE", where VALUE may be empty.
template <std::size_t side>
void add_variable(Options& options, Text text) {
  const std::size_t equals = text.find('=');
  if (equals == Text::npos || equals == 0) {
    throw UsageError(fmt::format("{} has no {}: write NAME=VALUE", quote(text),
                                 equals == 0 ? "name before '='" : "'='"));
  }
  options.environments.at(side).emplace_back(text.substr(0, equals), text.substr(equals + 1));
}

/// Stores the kernel's name, and the number of the launch, from the text "NAME" or "NAME:N".
void store_kernel(Options& options, Text value) {
  const std::size_t colon = value.find(':');
  options.kernel = value.substr(0, colon);
  if (options.kernel.empty()) throw UsageError("the name is empty: write NAME or NAME:N");
  if (colon == Text::npos) return;
  const Text number = value.substr(colon + 1);
  try {
    options.kernel_launch = parse_whole(number, 1, max_seed);
  } catch (const UsageError&) {
    throw UsageError(fmt::format("{} is not a launch number: write {}:1 for the first launch",
                                 quote(number), printable(options.kernel)));
  }
}

/// Stores the name of a run or, of the form KEY=VALUE, where the devices of all runs are. Throws
/// UsageError for an unknown key.
void store_label(Options& options, Text text) {
  constexpr std::array<std::string_view, 5> keys{"node", "slot", "rack", "campaign", "job"};
  const std::size_t equals = text.find('=');
  if (equals == Text::npos) {
    options.labels.emplace_back(text);
    return;
  }
  const Text key = text.substr(0, equals);
  if (std::ranges::find(keys, key) == keys.end()) {
    throw UsageError(
        fmt::format("unknown key {}: choose node, slot, rack, campaign or job", quote(key)));
  }
  options.places.set(std::string(key), std::string(text.substr(equals + 1)));
}

std::chrono::milliseconds parse_timeout(Text text) {
  return std::chrono::ceil<std::chrono::milliseconds>(parse_duration(text));
}

std::vector<std::string> parse_nodes(Text text) {
  try {
    return fleet::expand_hosts(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

std::size_t parse_expected(Text text) {
  constexpr std::uint64_t max_devices = 1'000'000;
  return parse_whole(text, 1, max_devices);
}

std::uint64_t parse_seed(Text text) { return parse_whole(text, 0, max_seed); }

// Selects the command `version`, unless --help was given: --help overrides --version, and --version
// overrides --generate.
void show_version(Options& options, Text /*text*/) {
  if (options.command != Command::help) options.command = Command::version;
}

void generate(Options& options, Text what) {
  if (options.command == Command::measure) options.command = Command::generate;
  options.words = {std::string(what)};
}

constexpr std::array table{
    Flag{.name = "device",
         .short_name = 'd',
         .value_name = "DEVICE",
         .kind = ValueKind::devices,
         .category = Category::selection,
         .commands = with_devices | profiling,
         .summary = "device to measure: an index or platform:device from `clprobe list`, gpu, cpu, "
                    "part of a name, all, sim:PRESET, or several of these, separated by commas",
         .details =
             "Devices to measure: an index of `clprobe list` (`1`), platform and device (`0:1`), a "
             "type (`gpu`, `cpu`, `accelerator`), part of a name (`H200`), `all`, or several of "
             "these, separated by commas. Several devices are shown side by side. Default: "
             "`CLPROBE_DEVICE` from the environment, otherwise the best device. `sim:PRESET` is a "
             "simulated compute unit (`clprobe list` names the presets), and `sim:FILE.json` is a "
             "simulated compute unit that a file describes.",
         .update = store<&Options::device>},
    Flag{.name = "max-memory",
         .value_name = "SIZE",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = with_probes,
         .summary = "maximum device memory for buffers",
         .details =
             "Maximum device memory for buffers. Default: a quarter of the device's memory; for "
             "`latency` also at most 1 GiB and at most the largest buffer that the device allows.",
         .update = store<&Options::max_memory, parse_size>},
    Flag{.name = "time-budget",
         .value_name = "TIME",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h",
         .details =
             "Approximate time for all probes of one device together: `500ms`, `30s`, `2min` "
             "or `1h`. clprobe stops measuring a point once its result reaches the target "
             "precision. On a simulated device without a budget, clprobe measures all "
             "points. With `compare --live`, the budget is the time for alternating, which "
             "begins after one measurement of each side. By default, clprobe alternates "
             "until about a minute after its start, but for at least 20s.",
         .update = store<&Options::time_budget, parse_duration>},
    Flag{.name = "quick",
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "fewer sizes and samples, for a first look",
         .details = "Measure fewer sizes and samples, for a first look.",
         .update = set<&Options::effort, Effort::quick>},
    Flag{.name = "thorough",
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "more sizes and samples, for publication",
         .details = "Measure more sizes and samples, for publication.",
         .update = set<&Options::effort, Effort::thorough>},
    Flag{.name = "timeout",
         .value_name = "TIME",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_devices | profiling,
         .summary = "longest wait for a response from the driver (default 30s)",
         .details = "Longest wait for a response from the driver. After this time, clprobe ends "
                    "the driver's process and counts the point as failed. Default: 30s.",
         .update = store<&Options::timeout, parse_timeout>},
    Flag{.name = "clock",
         .value_name = "KIND",
         .kind = ValueKind::choice,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "in-kernel clock",
         .details = "Clock that kernels read. With `auto`, clprobe takes the device's best clock "
                    "that passes its self-test. With `none`, clprobe times whole launches "
                    "instead. With any other value, clprobe tries only the named clock.",
         .choices = clock_words,
         .update = store<&Options::clock, from_word<ClockKind>>},  // "auto" stores no ClockKind
    Flag{.name = "seed",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "seed of all random orders (default 42)",
         .details = "Seed of all random orders: the order of the points, and the order of the "
                    "addresses in a chase. Default: 42.",
         .update = store<&Options::seed, parse_seed>},
    Flag{.name = "dry-run",
         .category = Category::effort,
         .commands = measuring,
         .summary = "print the plan (points, memory, time) and exit",
         .details = "Print the plan (points, memory, time) and exit. Nothing is measured; only the "
                    "device's clocks are tested, as in a run.",
         .update = set<&Options::dry_run, true>},
    Flag{.name = "live",
         .category = Category::comparing,
         .commands = comparing,
         .summary = "measure both sides now, alternately, instead of reading files",
         .details = "Measure both sides now, alternately, instead of reading files: `clprobe "
                    "compare --live --b-env OCL_ICD_VENDORS=/new/driver latency`.",
         .update = [](Options&, Text) {}},  // resolve() replaces `compare` by Command::live
    Flag{
        .name = "b-device",
        .value_name = "DEVICE",
        .kind = ValueKind::devices,
        .category = Category::comparing,
        .commands = live,
        .summary = "device of side B (default: the value of --device)",
        .details = "Device of side B, written as for `--device`. Default: the value of `--device`.",
        .update = store<&Options::other_device>},
    Flag{.name = "a-env",
         .value_name = "NAME=VALUE",
         .kind = ValueKind::variable,
         .category = Category::comparing,
         .commands = live,
         .summary = "environment variable for side A's drivers only",
         .details = "Environment variable that only side A's drivers get: `OCL_ICD_VENDORS`, "
                    "`LD_PRELOAD` or a driver's own setting.",
         .is_repeatable = true,
         .update = add_variable<0>},
    Flag{.name = "b-env",
         .value_name = "NAME=VALUE",
         .kind = ValueKind::variable,
         .category = Category::comparing,
         .commands = live,
         .summary = "environment variable for side B's drivers only",
         .details = "Environment variable that only side B's drivers get.",
         .is_repeatable = true,
         .update = add_variable<1>},
    Flag{.name = "runs",
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::comparing,
         .commands = live,
         .summary = "also write both sides' runs to FILE, as JSON",
         .details = "Also write the runs of both sides to FILE, as JSON with every sample, for "
                    "`report` and `compare`. clprobe replaces FILE as a whole after each probe and "
                    "each pass, so an interrupted run keeps its earlier results.",
         .update = store<&Options::runs_file>},
    Flag{.name = "list",
         .category = Category::profiling,
         .commands = profiling,
         .summary = "list the program's kernels with launch counts and device times; replay none",
         .details = "List the program's kernels with the number of launches, the device time and "
                    "the work sizes. Capture and replay nothing.",
         .update = set<&Options::list_kernels, true>},
    Flag{.name = "kernel",
         .value_name = "NAME[:N]",
         .kind = ValueKind::text,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "capture only this kernel: its N-th launch, or without N a typical launch",
         .details =
             "Capture only this kernel. N selects the kernel's N-th launch in a process, "
             "counting launches of all work sizes. Without N, clprobe captures a typical "
             "launch, whose time is close to the mean. Without `--kernel`, clprobe captures "
             "one launch of each main kernel. The main kernels are the top kernels by device "
             "time: as many as cover 80 % of it, at most three.",
         .update = store_kernel},
    Flag{
        .name = "keep",
        .value_name = "FOLDER",
        .kind = ValueKind::file,
        .category = Category::profiling,
        .commands = profiling,
        .summary = "keep the captured launches, to replay them later or elsewhere",
        .details =
            "Keep each captured launch in a folder below FOLDER: `clprobe profile FOLDER/KERNEL` "
            "replays the launch on any device. The folder contains the program's kernels and data.",
        .update = store<&Options::keep_folder>},
    Flag{.name = "headers",
         .value_name = "FOLDER",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "let replayed kernels include files below this folder",
         .details = "Let replayed kernels also include the files below FOLDER. Without this "
                    "option, kernels may include only the headers of their bundle (the captured "
                    "launch), or the files below the folder of `--kernel-file`. The restriction "
                    "protects your files, since a kernel's source may come from someone else and "
                    "compilers quote included files in their messages.",
         .update = store<&Options::headers_folder>},
    Flag{.name = "kernel-file",
         .value_name = "FILE.cl",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "OpenCL C file with a kernel to launch without its application",
         .details = "OpenCL C file with a kernel. clprobe launches the kernel without its "
                    "application, as `--launch` describes. If `--launch` names the `launch.json` "
                    "of a bundle (a captured launch), FILE.cl replaces the captured source. "
                    "Without `--launch`, clprobe prints a description to edit.",
         .update = store<&Options::kernel_file>},
    Flag{.name = "launch",
         .value_name = "FILE.json",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "file that describes the launch of the kernel in --kernel-file",
         .details = "File that describes the launch of the kernel in `--kernel-file`: the kernel's "
                    "name, work sizes, arguments and buffer contents. `clprobe explain profile` "
                    "shows an example.",
         .update = store<&Options::launch_file>},
    Flag{.name = "levels",
         .value_name = "FILE.json",
         .kind = ValueKind::file,
         .category = Category::profiling,
         .commands = profiling,
         .summary = "saved latency run on this device, used to name memory levels",
         .details = "A run of `latency` on the same device (`clprobe latency -o FILE.json`). The "
                    "report then names the level that holds a kernel's buffers, and states the "
                    "number of work-groups at which a faster level would hold these buffers. The "
                    "curve in the report also marks the levels.",
         .update = store<&Options::levels_file>},
    Flag{.name = "with-secrets",
         .category = Category::profiling,
         .commands = profiling,
         .summary = "also store values that look like passwords, tokens and keys",
         .details = "Store the program's arguments, and the build options of kept launches, in "
                    "full. Without this option, *** replaces values that look like passwords, "
                    "tokens, keys, or user names in URLs.",
         .update = set<&Options::with_secrets, true>},
    Flag{.name = "baseline",
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::comparing,
         .commands = bit(Command::compare),
         .summary = "run to compare against (default: the first)",
         .details = "File whose first run is the baseline of all comparisons. Default: the first "
                    "run of the first file.",
         .update = store<&Options::baseline>},
    Flag{.name = "threshold",
         .value_name = "PERCENT",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = comparing,
         .summary = "ignore changes up to PERCENT (default 3%)",
         .details =
             "Ignore changes up to this percentage, `3%` by default. A finding has changed if the "
             "whole 95 % interval of its ratio to the baseline lies beyond this percentage.",
         .update = store<&Options::threshold, parse_share>},
    Flag{.name = "fail-on",
         .value_name = "VERDICT",
         .kind = ValueKind::choice,
         .category = Category::comparing,
         .commands = comparing | reporting_fleets,
         .summary = "exit with code 4 if a finding is worse (`worse`), or if a finding is better, "
                    "worse or different (`changed`), in a joint test at 5 %; with `fleet report`, "
                    "if a device is slow, suspect or "
                    "missing (default never)",
         .details =
             "With `fleet report`, exit with code 4 if a device is slow (`slow`), slow or suspect "
             "(`suspect`), or if a node, a device or a run is missing or failed (`missing`). With "
             "`compare`, exit with code 4 if a finding is worse (`worse`), or if a finding is "
             "better, worse "
             "or different (`changed`). Default: `never`. All findings that the baseline and the "
             "new runs share are tested jointly at 5 %: with Holm's procedure, or with Benjamini "
             "and Hochberg's if there are several baseline runs and several new runs. On stderr, "
             "clprobe names the findings that meet the condition; unclear findings do not count. "
             "Without such a finding, the exit code is 5 if a probe or a series of the baseline is "
             "missing, failed or interrupted in a run. The code is also 5 if single runs cannot "
             "separate a change from disturbances by other tenants of a virtual machine's host.",
         .choices = fail_on_words,
         .update = choose<&Options::fail_on, fail_on_words>},
    Flag{.name = "device-name",
         .value_name = "NAME",
         .kind = ValueKind::text,
         .category = Category::importing,
         .commands = importing,
         .summary = "name of the device, if the file does not give one",
         .details = "Name of the device, if the file does not give one. Default: the file's name.",
         .update = store<&Options::device_name>},
    Flag{.name = "series",
         .value_name = "SERIES",
         .kind = ValueKind::series,
         .category = Category::results,
         .commands = importing | bit(Command::report),
         .summary =
             "series to show, separated by commas (report), or series of an imported list (import)",
         .details = "With `report`, the series to show, separated by commas. Default: all. With "
                    "`import`, the series to which a list of sizes and latencies belongs. Default: "
                    "the series that the file names, otherwise `global`.",
         .update = store<&Options::series>},
    Flag{.name = "reference",
         .value_name = "PATH",
         .kind = ValueKind::file,
         .category = Category::comparing,
         .commands = reporting_fleets,
         .summary = "good devices to compare fewer than eight devices with",
         .details = "Run, or folder of runs, of devices that are known to be good. `fleet report` "
                    "compares kinds of fewer than eight devices with these devices.",
         .update = store<&Options::reference>},
    Flag{.name = "nodes",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = reporting_fleets,
         .summary = "expected nodes, such as a[001-017],b2; others count as missing",
         .details = "Host list of the expected nodes, as Slurm writes it: `a[001-017],b2`. "
                    "Expected nodes without a run count as missing.",
         .update = store<&Options::nodes, parse_nodes>},
    Flag{.name = "expect",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = reporting_fleets,
         .summary = "expected number of devices",
         .details = "Expected number of devices. Fewer devices count as missing.",
         .update = store<&Options::expected_devices, parse_expected>},
    Flag{.name = "suspects",
         .category = Category::comparing,
         .commands = reporting_fleets,
         .summary = "print only the nodes to measure again, as a host list",
         .details =
             "Print only the host list of nodes to measure again: nodes with slow or suspect "
             "devices, nodes of failed runs, and missing nodes.",
         .update = set<&Options::only_suspects, true>},
    Flag{.name = "size-unit",
         .value_name = "UNIT",
         .kind = ValueKind::choice,
         .category = Category::importing,
         .commands = importing,
         .summary = "unit of sizes in an imported list",
         .details = "Unit of the sizes in a list of sizes and latencies. `auto` takes the unit "
                    "from the list's header. A list without a header needs this option.",
         .choices = size_unit_words,
         .update = choose<&Options::size_unit, size_unit_words>},
    Flag{.name = "time-unit",
         .value_name = "UNIT",
         .kind = ValueKind::choice,
         .category = Category::importing,
         .commands = importing,
         .summary = "unit of latencies in an imported list",
         .details = "Unit of the latencies in a list of sizes and latencies. `auto` takes the unit "
                    "from the list's header. A list without a header needs this option. `cycles` "
                    "also needs `--clock-rate`.",
         .choices = time_unit_words,
         .update = choose<&Options::time_unit, time_unit_words>},
    Flag{.name = "clock-rate",
         .value_name = "RATE",
         .kind = ValueKind::text,
         .category = Category::importing,
         .commands = importing,
         .summary = "clock rate of the measured device, such as 1.98GHz or 1980MHz",
         .details = "Clock rate of the measured device, such as `1.98GHz` or `1980MHz`. clprobe "
                    "uses this rate to convert latencies between cycles and seconds. The option "
                    "overrides a clock rate in the file.",
         .update = store<&Options::clock_hertz, parse_frequency>},
    Flag{.name = "label",
         .value_name = "NAME",
         .kind = ValueKind::text,
         .category = Category::results,
         .commands = measuring | bit(Command::report) | bit(Command::compare) | importing,
         .summary = "name to show for a run instead of its device's name, or KEY=VALUE",
         .details = "Name of a run, stored in its document and shown instead of its device's name. "
                    "Repeat the option for several devices or stored runs, in their order. Of the "
                    "form KEY=VALUE, such as node=a001, it states where all devices are, for "
                    "`fleet report`: node, slot, rack or campaign.",
         .is_repeatable = true,
         .update = store_label},
    Flag{.name = "output",
         .short_name = 'o',
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::results,
         .commands = with_results | describing | checking | profiling,
         .is_repeatable = true,
         .update = [](Options& options,
                      Text path) { options.outputs.push_back(parse_output(path)); }},
    Flag{.name = "format",
         .short_name = 'f',
         .value_name = "FORMAT",
         .kind = ValueKind::choice,
         .category = Category::results,
         .commands = with_results | bit(Command::list) | profiling,
         .summary = "format of the results on stdout",
         .details = "Format of the results on stdout.",
         .update = store<&Options::format, find_writer>},
    Flag{.name = "json",
         .category = Category::results,
         .commands = with_results | bit(Command::list) | profiling,
         .summary = "short for --format json",
         .details = "Short for `--format json`.",
         .update = [](Options& options, Text) { options.format = find_writer("json"); }},
    Flag{.name = "color",
         .value_name = "WHEN",
         .kind = ValueKind::choice,
         .category = Category::results,
         .commands = with_results | profiling,
         .summary = "use colours on stdout",
         .details = "Use colours on stdout. With `auto`, clprobe uses colours only on a terminal; "
                    "NO_COLOR and CLICOLOR_FORCE override this.",
         .choices = colour_words,
         .update = choose<&Options::colour, colour_words>},
    Flag{.name = "verbose",
         .short_name = 'v',
         .category = Category::results,
         .commands = with_results | profiling,
         .summary = "show all details: every point, every kernel, the reason for every verdict",
         .details = "Show every point, and everything that the driver reported. With `compare`, "
                    "show all findings with reasons; with `profile`, every kernel and size.",
         .update = set<&Options::verbosity, 1>},
    Flag{.name = "quiet",
         .short_name = 'q',
         .category = Category::results,
         .commands = with_results | describing | checking | profiling,
         .summary = "show results and errors only, no progress or advice",
         .details = "Show results and errors only, no progress or advice.",
         .update = set<&Options::verbosity, -1>},
    Flag{.name = "generate",
         .value_name = "WHAT",
         .kind = ValueKind::choice,
         .category = Category::about,
         .commands = bit(Command::generate),
         .summary = "print the man page, a shell completion script or a JSON schema",
         .details = "Print the man page, the completion script for a shell (`source <(clprobe "
                    "--generate bash)`), or the JSON Schema of runs or of `describe`.",
         .choices = generate_words,
         .update = generate},
    Flag{.name = "full",
         .category = Category::about,
         .commands = bit(Command::explain),
         .summary = "with explain: print the whole page instead of the short form",
         .details = "With `explain`, print the whole page of a probe: method, findings, what can "
                    "fool it, what it cannot see, sources.",
         .update = set<&Options::full, true>},
    Flag{.name = "version",
         .short_name = 'V',
         .category = Category::about,
         .commands = everywhere,
         .summary = "print version, commit and compiler",
         .details = "Print the version, the commit and the compiler.",
         .update = show_version},
    Flag{.name = "help",
         .short_name = 'h',
         .category = Category::about,
         .commands = everywhere,
         .summary = "print this summary",
         .details = "Print a summary of this page.",
         .update = set<&Options::command, Command::help>},
    // With this flag, clprobe starts the child process that measures.
    Flag{.name = "worker",
         .category = Category::hidden,
         .commands = bit(Command::worker),
         .summary = "measure for another clprobe",
         .details = "Measure on behalf of another clprobe process, over file descriptor 3.",
         .update = set<&Options::command, Command::worker>},
};

}  // namespace

std::span<const Flag> all_flags() {
  static const std::vector<std::string_view> formats = format_names(
      [](const Writer& each) { return each.runs != nullptr || each.fleet != nullptr; });
  static std::string output_summary =
      "also write the results to FILE (- for stdout), in the format of its extension:";
  static std::string output_details =
      "Also write the results to FILE, in the format of its extension. ";
  static const auto flags = [] {
    for (const Writer* const each : writers()) {
      if (each->ending.starts_with('.')) output_summary += fmt::format(" {}", each->ending);
      output_details += each->details;
    }
    output_details +=
        "`-` is stdout. Stdout and devices such as `/dev/null` take the format of `--format`. "
        "clprobe replaces a file as a whole after each probe, so an interrupted run keeps its "
        "earlier results.";
    auto filled = table;
    for (Flag& row : filled) {
      if (row.name == "format") row.choices = formats;
      if (row.name != "output") continue;
      row.summary = output_summary;
      row.details = output_details;
    }
    return filled;
  }();
  return flags;
}

}  // namespace clprobe::cli
