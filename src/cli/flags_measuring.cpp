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
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = with_devices,
         .summary = "an index, P:D, part of a name, all, sim:PRESET, or a comma list of those",
         .details = "Which devices are measured: an index of `clprobe list` (`1`), platform and "
                    "device (`0:1`), part of a name (`H200`), `all`, or a comma list of those. "
                    "Several devices are shown side by side. Without it, the best device. "
                    "`sim:PRESET` is a simulated compute unit (`clprobe list` names the presets), "
                    "`sim:FILE.json` one from a file.",
         .update = update_device},
    Flag{.name = "sizes",
         .value_name = "RANGE",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "working sets: 64KiB, 1KiB-1GiB, 1KiB-1GiB*2 or a comma list of those",
         .details =
             "Working sets: one size (`64KiB`), a range (`1KiB-1GiB`), a range in which each "
             "size is so many times the one before (`1KiB-1GiB*2`), or a comma list of "
             "those. K, KiB and so on are powers of 1024; kB, MB, GB and TB powers of 1000. "
             "Without it, what the probe chooses for the device.",
         .update = update_sizes},
    Flag{.name = "series",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::selection,
         .commands = measuring | importing,
         .summary = "series of points to measure",
         .details =
             "Which series of points are measured, as a comma list. Without it, all that the "
             "device has. With `import`, the series that a list of sizes and latencies is of.",
         .choices = series_words,
         .update = update_series},
    Flag{.name = "step",
         .value_name = "SIZE",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "bytes from one access to its neighbour, a multiple of 8",
         .details =
             "Bytes between neighbouring places in the working set, a multiple of 8. Without "
             "it, the larger of 64 bytes and the cache line that the driver reports. A step "
             "below the line hits each line more than once and blurs the levels.",
         .update = update_step},
    Flag{.name = "unroll",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "loads in one iteration of a chase, 1 to 64 (16)",
         .details = "Loads in one iteration of a pointer chase, from 1 to 64; 16 by default. With "
                    "few, the loop's own instructions show in the time; with many, the kernel may "
                    "leave the instruction cache.",
         .update = update_unroll},
    Flag{.name = "address",
         .value_name = "FORM",
         .kind = ValueKind::choice,
         .category = Category::selection,
         .commands = measuring,
         .summary = "how a load is addressed",
         .details = "How a load is addressed: by a pointer that the load before it brought, by an "
                    "index, or by an offset in bytes. A pointer needs the fewest instructions, but "
                    "not every driver keeps pointers valid in memory; `auto` takes it where they "
                    "are.",
         .choices = address_words,
         .update = update_address},
    Flag{.name = "words",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::selection,
         .commands = measuring,
         .summary = "bytes of one access to local memory",
         .details = "Bytes of one access to local memory, as a comma list; all of them without it. "
                    "The first is that of the model of conflicts.",
         .choices = word_words,
         .update = update_words},
    Flag{.name = "strides",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "words from lane to lane in local memory: 0-65 or 1,2,4",
         .details = "Words from one lane of a sub-group to the next in local memory: numbers and "
                    "ranges such as `0-65` or `1,2,4`. Without it, 0 to 65.",
         .update = update_strides},
    Flag{.name = "ways",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "lanes that meet in one bank: 1-32 or 1,2,4",
         .details =
             "How many lanes of a sub-group meet in one bank of local memory, each at a word "
             "of its own: numbers and ranges. Without it, the powers of two up to the "
             "sub-group's size.",
         .update = update_ways},
    Flag{.name = "sub-groups",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "sub-groups that access local memory together: 1-32",
         .details = "How many sub-groups of one work-group access local memory together: numbers "
                    "and ranges. Without it, the powers of two up to what a work-group holds, at "
                    "most 32.",
         .update = update_sub_groups},
    Flag{.name = "instructions",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "accesses that do not wait for each other: 1-32",
         .details = "How many accesses to local memory each work-item makes that do not wait for "
                    "each other: numbers and ranges from 1 to 32. Without it, 16 where only the "
                    "rate counts, and the powers of two in the model of conflicts.",
         .update = update_instructions},
    Flag{.name = "max-memory",
         .value_name = "SIZE",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "most device memory that may be used",
         .details = "The most device memory that may be used. Without it, a quarter of the "
                    "device's memory, and for `latency` at most 1 GiB and the largest buffer.",
         .update = update_max_memory},
};

constexpr std::array effort_rows{
    Flag{.name = "time-budget",
         .value_name = "TIME",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = measuring,
         .summary = "time for all probes of a device: 500ms, 30s, 2min, 1h",
         .details = "About how long the probes of one device may take together: `500ms`, `30s`, "
                    "`2min` or `1h`. Points that are certain earlier end earlier.",
         .update = update_time_budget},
    Flag{.name = "quick",
         .category = Category::effort,
         .commands = measuring,
         .summary = "fewer sizes and samples: a first look",
         .details = "Fewer sizes and fewer samples: a first look.",
         .update = update_quick},
    Flag{.name = "thorough",
         .category = Category::effort,
         .commands = measuring,
         .summary = "more sizes and samples: for publication",
         .details = "More sizes and more samples: for results that are published.",
         .update = update_thorough},
    Flag{.name = "timeout",
         .value_name = "TIME",
         .kind = ValueKind::text,
         .category = Category::effort,
         .commands = with_devices,
         .summary = "longest wait for one answer of a driver (30s)",
         .details = "How long a driver may take for one answer before its process is ended and the "
                    "point counts as failed; 30s by default.",
         .update = update_timeout},
    Flag{.name = "clock",
         .value_name = "KIND",
         .kind = ValueKind::choice,
         .category = Category::effort,
         .commands = measuring,
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
         .commands = measuring,
         .summary = "seed of everything that is shuffled (42)",
         .details = "Seed of everything that is shuffled: the order of points and the cycles in "
                    "memory; 42 by default.",
         .update = update_seed},
    Flag{.name = "dry-run",
         .category = Category::effort,
         .commands = measuring,
         .summary = "say what would be measured, and measure nothing",
         .details = "Say what would be measured, in how much memory and time, and measure nothing.",
         .update = update_dry_run},
};

}  // namespace

std::span<const Flag> selection_flags() { return selection_rows; }
std::span<const Flag> effort_flags() { return effort_rows; }

}  // namespace clprobe::cli
