// SPDX-License-Identifier: Apache-2.0
// What becomes of results: judged, taken from other tools, written.
#include <array>

#include "cli/flag_groups.hpp"
#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array result_rows{
    Flag{.name = "baseline",
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::comparing,
         .commands = bit(Command::compare),
         .summary = "run to compare against (default: the first)",
         .details =
             "The file whose (first) run all others are compared with. Default: the first run.",
         .update = update_baseline},
    Flag{.name = "threshold",
         .value_name = "SHARE",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = comparing,
         .summary = "ignore changes up to this share (default 3%)",
         .details =
             "Ignore changes up to this share, a percentage; `3%` by default. There is a change "
             "where the 95 % interval of the ratio lies beyond it as a whole.",
         .update = update_threshold},
    Flag{.name = "fail-on",
         .value_name = "VERDICT",
         .kind = ValueKind::choice,
         .category = Category::comparing,
         .commands = comparing,
         .summary = "exit with 4 if a finding got worse, or changed, all of them tested "
                    "together at 5 % (default never)",
         .details =
             "Exit with status 4 if a finding is worse, or if one is better, worse or different "
             "(`changed`); by default `never`. All findings that both sides have are tested "
             "together at 5 %, by Holm's procedure, or with several runs a side by Benjamini and "
             "Hochberg's, and those that fail are named on stderr. "
             "Findings that are unclear do not count. Otherwise "
             "with 5 if a probe or a series of the baseline is missing in a run, failed or was "
             "interrupted there, or if one run a side cannot tell a change from what others on a "
             "virtual machine's host do.",
         .choices = fail_on_words,
         .update = update_fail_on},
    Flag{.name = "device-name",
         .value_name = "NAME",
         .kind = ValueKind::text,
         .category = Category::importing,
         .commands = importing,
         .summary = "the device, where the file does not name it",
         .details = "The name of the device, where the file does not say it. Without it, the "
                    "file's own name.",
         .update = update_device_name},
    Flag{.name = "series",
         .value_name = "SERIES",
         .kind = ValueKind::series,
         .category = Category::results,
         .commands = importing | bit(Command::report),
         .summary = "series to report (a comma list), or that an imported list is of",
         .details = "With `report`, the series to show, separated by commas; all by default. With "
                    "`import`, the series that latencies by size are of; `global` by default, "
                    "where the file does not say it.",
         .update = update_series},
    Flag{.name = "size-unit",
         .value_name = "UNIT",
         .kind = ValueKind::choice,
         .category = Category::importing,
         .commands = importing,
         .summary = "of the sizes in a list",
         .details = "The unit of the sizes in a list of sizes and latencies. `auto` is what "
                    "its header says; without one it has to be given.",
         .choices = size_unit_words,
         .update = update_size_unit},
    Flag{.name = "time-unit",
         .value_name = "UNIT",
         .kind = ValueKind::choice,
         .category = Category::importing,
         .commands = importing,
         .summary = "of the latencies in a list",
         .details =
             "The unit of the latencies in a list of sizes and latencies. `auto` is what "
             "its header says; without one it has to be given. `cycles` need `--clock-rate`.",
         .choices = time_unit_words,
         .update = update_time_unit},
    Flag{.name = "clock-rate",
         .value_name = "RATE",
         .kind = ValueKind::text,
         .category = Category::importing,
         .commands = importing,
         .summary = "of the device that was measured: 1.98GHz, 1980MHz",
         .details = "The clock rate of the device that was measured, as in `1.98GHz` or `1980MHz`. "
                    "Latencies in cycles become seconds by it, and those in seconds are shown in "
                    "cycles, too. It is stronger than what a file says.",
         .update = update_clock_rate},
    Flag{.name = "label",
         .value_name = "NAME",
         .kind = ValueKind::text,
         .category = Category::results,
         .commands = measuring | bit(Command::report) | bit(Command::compare) | importing,
         .summary = "name of a run, shown in place of its device's; once per run",
         .details = "Name of a run, kept in its document and shown in place of its device's. May "
                    "be given once per device or stored run, in their order.",
         .is_repeatable = true,
         .update = update_label},
    Flag{.name = "output",
         .short_name = 'o',
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::results,
         .commands = with_results | profiling,
         .summary = "also write FILE: .json .csv .md .txt .html .svg; - is stdout",
         .details = "Also write the results to FILE, in the format of its ending: `.json`, `.csv` "
                    "(a row a sample, of names that end in `findings.csv` a finding, `curves.csv` "
                    "a point), "
                    "`.md`, `.txt`, `.html` (one page with interactive charts and the raw data) or "
                    "`.svg` (a picture of one chart; where there are several probes, the name of "
                    "the file begins with the one to draw: `latency.svg`). `-` is stdout; it and "
                    "devices such as `/dev/null` take the "
                    "format of `--format`. A file is replaced as a whole after each probe, so that "
                    "an interrupted run leaves what it has.",
         .is_repeatable = true,
         .update = update_output},
    Flag{.name = "format",
         .short_name = 'f',
         .value_name = "FORMAT",
         .kind = ValueKind::choice,
         .category = Category::results,
         .commands = with_results | bit(Command::list) | profiling,
         .summary = "format of stdout",
         .details = "Format of the results on stdout.",
         .choices = format_words,
         .update = update_format},
    Flag{.name = "json",
         .category = Category::results,
         .commands = with_results | bit(Command::list) | profiling,
         .summary = "short for --format json",
         .details = "Short for `--format json`.",
         .update = update_json},
    Flag{.name = "color",
         .value_name = "WHEN",
         .kind = ValueKind::choice,
         .category = Category::results,
         .commands = with_results | profiling,
         .summary = "colours on stdout",
         .details = "Colours on stdout. `auto` means on a terminal, unless NO_COLOR is set.",
         .choices = colour_words,
         .update = update_color},
    Flag{.name = "verbose",
         .short_name = 'v',
         .category = Category::results,
         .commands = with_results | profiling,
         .summary = "every point, and what the driver reported",
         .details =
             "Show every point, and everything that the driver reported. With `profile`, every "
             "kernel and not only the first 20 rows.",
         .update = update_verbose},
    Flag{.name = "quiet",
         .short_name = 'q',
         .category = Category::results,
         .commands = with_results | profiling,
         .summary = "results and errors only: no progress, no advice",
         .details = "Results and errors only: no progress, no advice.",
         .update = update_quiet},
};

}  // namespace

std::span<const Flag> result_flags() { return result_rows; }

}  // namespace clprobe::cli
