// SPDX-License-Identifier: Apache-2.0
// What is measured, and with how much effort, whatever the probe.
#include <array>

#include "cli/flag_groups.hpp"
#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array selection_rows{
    Flag{
        .name = "device",
        .short_name = 'd',
        .value_name = "SEL",
        .kind = ValueKind::devices,
        .category = Category::selection,
        .commands = with_devices | profiling,
        .summary = "an index, P:D, gpu, cpu, part of a name, all, sim:PRESET, or a comma list",
        .details =
            "Which devices are measured: an index of `clprobe list` (`1`), platform and "
            "device (`0:1`), a type (`gpu`, `cpu`, `accelerator`), part of a name (`H200`), `all`, "
            "or a comma list of those. Several devices are shown side by side. Without "
            "it, `CLPROBE_DEVICE` from the environment, or else the best device. "
            "`sim:PRESET` is a simulated compute unit (`clprobe list` names the presets), "
            "`sim:FILE.json` one from a file.",
        .update = update_device},
    Flag{.name = "max-memory",
         .value_name = "SIZE",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = with_probes,
         .summary = "memory that buffers may use at most",
         .details = "The most device memory that may be used. Without it, a quarter of the "
                    "device's memory, and for `latency` at most 1 GiB and the largest buffer.",
         .update = update_max_memory},
};

constexpr std::array effort_rows{
    Flag{.name = "time-budget",
         .value_name = "TIME",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h",
         .details = "About how long the probes of one device may take together: `500ms`, `30s`, "
                    "`2min` or `1h`. Points that are certain earlier end earlier. Without it a "
                    "simulated device takes the time that all of its points need. Of `compare "
                    "--live`, how long the two sides may take turns once each was measured; by "
                    "default until a minute after the start, but 20s at least.",
         .update = update_time_budget},
    Flag{.name = "quick",
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "fewer sizes and samples: a first look",
         .details = "Fewer sizes and fewer samples: a first look.",
         .update = update_quick},
    Flag{.name = "thorough",
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "more sizes and samples: for publication",
         .details = "More sizes and more samples: for results that are published.",
         .update = update_thorough},
    Flag{.name = "timeout",
         .value_name = "TIME",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_devices | profiling,
         .summary = "longest wait for one answer of a driver (30s)",
         .details = "How long a driver may take for one answer before its process is ended and the "
                    "point counts as failed; 30s by default.",
         .update = update_timeout},
    Flag{.name = "clock",
         .value_name = "KIND",
         .kind = ValueKind::choice,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "clock read inside kernels",
         .details = "The clock that kernels read. `auto` takes the best that the device has and "
                    "that proves to be one; another word tries that one alone, and `none` leaves "
                    "the times of launches.",
         .choices = clock_words,
         .update = update_clock},
    Flag{.name = "seed",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_probes | profiling,
         .summary = "seed of all random orders (42)",
         .details = "Seed of everything that is shuffled: the order of points and the cycles in "
                    "memory; 42 by default.",
         .update = update_seed},
    Flag{.name = "dry-run",
         .category = Category::effort,
         .commands = measuring,
         .summary = "print the plan, its memory and time, and exit",
         .details = "Print what would be measured, in how much memory and time, and exit. The "
                    "device's clocks are tried for it, as a run tries them.",
         .update = update_dry_run},
};

}  // namespace

std::span<const Flag> selection_flags() { return selection_rows; }
std::span<const Flag> effort_flags() { return effort_rows; }

}  // namespace clprobe::cli
