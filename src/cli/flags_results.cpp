// SPDX-License-Identifier: Apache-2.0
// What becomes of results: judged, taken from other tools, written.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

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
             "The file whose first run is the baseline of all comparisons. Default: the first run.",
         .update = update_baseline},
    Flag{.name = "threshold",
         .value_name = "SHARE",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = comparing,
         .summary = "ignore changes up to SHARE (default 3%)",
         .details = "Ignore changes up to this percentage, `3%` by default. A finding has changed "
                    "if the whole 95 % interval of its ratio lies beyond it.",
         .update = update_threshold},
    Flag{.name = "fail-on",
         .value_name = "VERDICT",
         .kind = ValueKind::choice,
         .category = Category::comparing,
         .commands = comparing,
         .summary = "exit with code 4 if a finding is worse, or for `changed` different at all; "
                    "tested jointly at 5 % (default never)",
         .details = "Exit with code 4 if a finding is worse (`worse`), or better, worse or "
                    "different (`changed`); by default `never`. All findings that both sides have "
                    "are tested jointly at 5 %, by Holm's procedure, or with several runs per side "
                    "by Benjamini and Hochberg's. The findings that meet the condition are named "
                    "on stderr; unclear findings do not count. Otherwise exit with code 5 if a "
                    "probe or a series of the baseline is missing in a run, failed or was "
                    "interrupted there. Also exit with code 5 if one run per side cannot separate "
                    "a change from disturbances by other tenants of a virtual machine's host.",
         .choices = fail_on_words,
         .update = update_fail_on},
    Flag{.name = "device-name",
         .value_name = "NAME",
         .kind = ValueKind::text,
         .category = Category::importing,
         .commands = importing,
         .summary = "name of the device, if the file does not give one",
         .details = "Name of the device, if the file does not give one. Default: the file's name.",
         .update = update_device_name},
    Flag{.name = "series",
         .value_name = "SERIES",
         .kind = ValueKind::series,
         .category = Category::results,
         .commands = importing | bit(Command::report),
         .summary = "series to report (a comma list), or series of an imported list",
         .details = "With `report`, the series to show, separated by commas; all by default. With "
                    "`import`, the series that a list of sizes and latencies belongs to; `global` "
                    "by default, if the file does not name one.",
         .update = update_series},
    Flag{.name = "size-unit",
         .value_name = "UNIT",
         .kind = ValueKind::choice,
         .category = Category::importing,
         .commands = importing,
         .summary = "unit of sizes in an imported list",
         .details = "Unit of the sizes in a list of sizes and latencies. `auto` takes it from the "
                    "list's header; without a header it must be given.",
         .choices = size_unit_words,
         .update = update_size_unit},
    Flag{.name = "time-unit",
         .value_name = "UNIT",
         .kind = ValueKind::choice,
         .category = Category::importing,
         .commands = importing,
         .summary = "unit of latencies in an imported list",
         .details =
             "Unit of the latencies in a list of sizes and latencies. `auto` takes it from the "
             "list's header; without a header it must be given. `cycles` need `--clock-rate`.",
         .choices = time_unit_words,
         .update = update_time_unit},
    Flag{.name = "clock-rate",
         .value_name = "RATE",
         .kind = ValueKind::text,
         .category = Category::importing,
         .commands = importing,
         .summary = "clock rate of the measured device, such as 1.98GHz or 1980MHz",
         .details = "Clock rate of the measured device, such as `1.98GHz` or `1980MHz`. It "
                    "converts latencies in cycles to seconds, and latencies in seconds to cycles. "
                    "It overrides a clock rate in the file.",
         .update = update_clock_rate},
    Flag{.name = "label",
         .value_name = "NAME",
         .kind = ValueKind::text,
         .category = Category::results,
         .commands = measuring | bit(Command::report) | bit(Command::compare) | importing,
         .summary = "name to show for a run instead of its device",
         .details = "Name of a run, stored in its document and shown instead of its device's name. "
                    "May be given once per device or stored run, in their order.",
         .is_repeatable = true,
         .update = update_label},
    Flag{.name = "output",
         .short_name = 'o',
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::results,
         .commands = with_results | profiling,
         .details =
             "Also write the results to FILE, in the format of its extension. A `.csv` file has "
             "one row per sample; per finding if its name ends in `findings.csv`, per point if it "
             "ends in `curves.csv`. An `.html` "
             "file is one page with charts, tables and the raw data. An `.svg` file is one "
             "chart; with several probes, its name begins with the probe to draw, as in "
             "`latency.svg`. "
             "`-` is stdout; it and devices such as `/dev/null` take the format of `--format`. A "
             "file is replaced as a whole after each probe, so an interrupted run leaves the "
             "results until then.",
         .is_repeatable = true,
         .update = update_output},
    Flag{.name = "format",
         .short_name = 'f',
         .value_name = "FORMAT",
         .kind = ValueKind::choice,
         .category = Category::results,
         .commands = with_results | bit(Command::list) | profiling,
         .summary = "format of the results on stdout",
         .details = "Format of the results on stdout.",
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
         .summary = "use colours on stdout",
         .details =
             "Use colours on stdout. `auto` means only on a terminal, and not if NO_COLOR is set.",
         .choices = colour_words,
         .update = update_color},
    Flag{.name = "verbose",
         .short_name = 'v',
         .category = Category::results,
         .commands = with_results | profiling,
         .summary = "show more: every point or kernel, every reason",
         .details = "Show every point, and everything that the driver reported. With `compare`, "
                    "show all findings with reasons; with `profile`, every kernel and size.",
         .update = update_verbose},
    Flag{.name = "quiet",
         .short_name = 'q',
         .category = Category::results,
         .commands = with_results | profiling,
         .summary = "show results and errors only, no progress or advice",
         .details = "Show results and errors only, no progress or advice.",
         .update = update_quiet},
};

}  // namespace

std::span<const Flag> result_flags() {
  static const std::vector<std::string_view> formats =
      format_names([](const Writer& each) { return each.runs != nullptr; });
  static const std::string output_summary = [] {
    std::string endings;
    for (const Writer& each : writers()) {
      if (each.ending.starts_with('.')) endings += fmt::format(" {}", each.ending);
    }
    return fmt::format("also write FILE:{}; - is stdout", endings);
  }();
  static const auto rows = [] {
    auto filled = result_rows;
    for (Flag& row : filled) {
      if (row.name == "format") row.choices = formats;
      if (row.name == "output") row.summary = output_summary;
    }
    return filled;
  }();
  return rows;
}

}  // namespace clprobe::cli
