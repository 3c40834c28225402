// SPDX-License-Identifier: Apache-2.0
// What is measured, and with how much effort, whatever the probe.
#include <array>

#include "cli/flag_groups.hpp"
#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array selection_rows{
    Flag{.name = "device",
         .short_name = 'd',
         .value_name = "SEL",
         .kind = ValueKind::devices,
         .category = Category::selection,
         .commands = with_devices | profiling,
         .summary = "device to measure: an index, P:D, gpu, cpu, part of a name, all, sim:PRESET, "
                    "or a comma list",
         .details =
             "Devices to measure: an index of `clprobe list` (`1`), platform and device (`0:1`), a "
             "type (`gpu`, `cpu`, `accelerator`), part of a name (`H200`), `all`, or a comma list "
             "of these. Several devices are shown side by side. Default: `CLPROBE_DEVICE` from the "
             "environment, otherwise the best device. `sim:PRESET` is a simulated compute unit "
             "(`clprobe list` names the presets), `sim:FILE.json` is one described by a file.",
         .update = update_device},
    Flag{.name = "max-memory",
         .value_name = "SIZE",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = with_probes,
         .summary = "maximum device memory for buffers",
         .details = "Maximum device memory for buffers. Default: a quarter of the device's memory; "
                    "for `latency` also at most 1 GiB and at most the largest buffer.",
         .update = update_max_memory},
};

constexpr std::array effort_rows{
    Flag{.name = "time-budget",
         .value_name = "TIME",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h",
         .details = "Approximate time for all probes of one device together: `500ms`, `30s`, "
                    "`2min` or `1h`. Points that reach their precision end earlier. Without a "
                    "budget, a simulated device measures all of its points. With `compare --live`, "
                    "the budget is the time for alternating after each side was measured once. By "
                    "default, alternating ends a minute after the start, but lasts at least 20s.",
         .update = update_time_budget},
    Flag{.name = "quick",
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "fewer sizes and samples, for a first look",
         .details = "Measure fewer sizes and samples, for a first look.",
         .update = update_quick},
    Flag{.name = "thorough",
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "more sizes and samples, for publication",
         .details = "Measure more sizes and samples, for publication.",
         .update = update_thorough},
    Flag{.name = "timeout",
         .value_name = "TIME",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_devices | profiling,
         .summary = "longest wait for a response from the driver (default 30s)",
         .details = "Longest wait for a response from the driver. After it, clprobe ends the "
                    "driver's process and counts the point as failed. Default: 30s.",
         .update = update_timeout},
    Flag{.name = "clock",
         .value_name = "KIND",
         .kind = ValueKind::choice,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "clock to read inside kernels",
         .details = "Clock that kernels read. `auto` takes the best clock of the device that "
                    "passes its self-test. Any other value tries only that clock. `none` uses the "
                    "times of launches instead.",
         .choices = clock_words,
         .update = update_clock},
    Flag{.name = "seed",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "seed of all random orders (default 42)",
         .details = "Seed of all random orders: of the points and of the addresses of a chase. "
                    "Default: 42.",
         .update = update_seed},
    Flag{.name = "dry-run",
         .category = Category::effort,
         .commands = measuring,
         .summary = "print the plan with its memory and time, and exit",
         .details = "Print the plan with its memory and time, and exit. Only the device's clocks "
                    "are tested, as in a run.",
         .update = update_dry_run},
};

}  // namespace

std::span<const Flag> selection_flags() { return selection_rows; }
std::span<const Flag> effort_flags() { return effort_rows; }

}  // namespace clprobe::cli
