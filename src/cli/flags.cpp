// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.hpp"

#include <array>

#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr unsigned measuring = bit(Command::measure);
constexpr unsigned with_devices = measuring | bit(Command::list);
constexpr unsigned comparing = bit(Command::compare);
constexpr unsigned importing = bit(Command::import);
constexpr unsigned with_results = measuring | bit(Command::report) | comparing | importing;
constexpr unsigned everywhere = with_devices | with_results | bit(Command::explain);

constexpr std::array flag_rows{
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
    Flag{
        .name = "elements",
        .value_name = "N",
        .kind = ValueKind::text,
        .category = Category::stride,
        .commands = measuring,
        .summary = "elements in each buffer, a power of two: 2^28, 256M",
        .details =
            "Elements in each buffer, a power of two: `268435456`, `256M` or `2^28`. Without it, 1 "
            "GiB of them on a large GPU, 256 MiB on another, four times the last cache on a CPU.",
        .update = update_elements},
    Flag{.name = "grid",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::stride,
         .commands = measuring,
         .summary = "work-items of a launch, a power of two",
         .details = "Work-items of a launch, a power of two that is at most the number of "
                    "elements. Without it, enough to fill the device twice.",
         .update = update_grid},
    Flag{.name = "work-group",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::stride,
         .commands = measuring,
         .summary = "work-items in a work-group, a power of two",
         .details = "Work-items in a work-group, a power of two that is at most the grid. Without "
                    "it, 256 on a GPU and 64 on a CPU.",
         .update = update_work_group},
    Flag{.name = "type",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stride,
         .commands = measuring,
         .summary = "types of the elements",
         .details = "Types of the elements, as a comma list; `int` by default.",
         .choices = type_words,
         .update = update_type},
    Flag{.name = "vector",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stride,
         .commands = measuring,
         .summary = "values in an element",
         .details = "How many values an element has, as a comma list: `4` makes it an int4. "
                    "Without it, 1 and 4.",
         .choices = vector_words,
         .update = update_vector},
    Flag{.name = "operation",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stride,
         .commands = measuring,
         .summary = "what is done with the elements",
         .details = "What a work-item does with its elements, as a comma list: `read` them, "
                    "`write` them, `copy` them to another buffer, or `update` them in place. A "
                    "copy and an update move every byte twice, and both count.",
         .choices = operation_words,
         .update = update_operation},
    Flag{.name = "buffer",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stride,
         .commands = measuring,
         .summary = "where the buffers lie",
         .details = "Where the buffers lie, as a comma list: in the memory of the `device`, in "
                    "memory that the driver takes from the `host` (CL_MEM_ALLOC_HOST_PTR), or in "
                    "shared virtual memory, `svm`. The first by default.",
         .choices = buffer_words,
         .update = update_buffer},
    Flag{.name = "timer",
         .value_name = "WORD",
         .kind = ValueKind::choice,
         .category = Category::stride,
         .commands = measuring,
         .summary = "what times a launch",
         .details = "What times a launch: its `event`, or the clock of the `host`. Without it, "
                    "events where they are true.",
         .choices = timer_words,
         .update = update_timer},
    Flag{.name = "work-items",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::inflight,
         .commands = measuring,
         .summary = "work-items of the group: 2-64 or 32,64,128",
         .details =
             "How many work-items the one work-group has: numbers and ranges, at most 256 of "
             "them. Without it, every second up to two sub-groups, every eighth up to what "
             "a group takes, and every second around jumps.",
         .update = update_work_items},
    Flag{.name = "loads",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::inflight,
         .commands = measuring,
         .summary = "independent loads of a work-item: 1-4 or 1,2,8",
         .details = "How many loads each work-item makes that do not wait for each other: numbers "
                    "and ranges from 1 to 16. Without it, 1, 2, 3, 4 and 8.",
         .update = update_loads},
    Flag{.name = "mergers",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::inflight,
         .commands = measuring,
         .summary = "work-items, and sub-groups, that share a line: 1,2,4",
         .details = "How many neighbouring work-items share a line, and, in curves of their own, "
                    "the same lanes of how many neighbouring sub-groups: numbers and ranges. "
                    "Without it, 1, and 2, 4 and 8 where that shows a limit.",
         .update = update_mergers},
    Flag{.name = "target",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::inflight,
         .commands = measuring,
         .summary = "what answers the loads",
         .details =
             "What answers the loads, as a comma list: the last `cache`, `memory`, or, where "
             "a device reads it without a copy, memory of the `host`. The first two by "
             "default.",
         .choices = target_words,
         .update = update_target},
    Flag{.name = "case",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stalls,
         .commands = measuring,
         .summary = "kernels whose stalls are shown",
         .details = "Kernels whose stalls are shown, as a comma list: a tree search with one queue "
                    "(`uts`), with a queue for each compute unit (`utsd`), a pass over an array by "
                    "way of local memory (`implicit`), and on devices kernels that are built to "
                    "wait for one thing (`memory`, `latency`, `banks`, `barrier`, `chain`, "
                    "`divergence`). Without it, all that the device can run.",
         .choices = case_words,
         .update = update_case},
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
    Flag{.name = "baseline",
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::comparing,
         .commands = comparing,
         .summary = "what the other runs are set beside; else the first one",
         .details = "The file whose (first) run all others are set beside. Without it, the first "
                    "run.",
         .update = update_baseline},
    Flag{.name = "threshold",
         .value_name = "SHARE",
         .kind = ValueKind::text,
         .category = Category::comparing,
         .commands = comparing,
         .summary = "changes up to this are none (3%)",
         .details = "Changes up to this share are none, as a percentage; `3%` by default. A larger "
                    "one must also show between the nearest ends of the two intervals.",
         .update = update_threshold},
    Flag{.name = "fail-on",
         .value_name = "VERDICT",
         .kind = ValueKind::choice,
         .category = Category::comparing,
         .commands = comparing,
         .summary = "exit status 4 when a finding is",
         .details = "End with status 4 when a finding is worse, or when one is better, worse or "
                    "different (`changed`). Findings that are unclear or could not be matched are "
                    "no reason.",
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
    Flag{.name = "size-unit",
         .value_name = "UNIT",
         .kind = ValueKind::choice,
         .category = Category::importing,
         .commands = importing,
         .summary = "of the sizes in a list",
         .details = "The unit of the first column of a list of sizes and latencies. `auto` is what "
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
             "The unit of the second column of a list of sizes and latencies. `auto` is what "
             "its header says; without one it has to be given.",
         .choices = time_unit_words,
         .update = update_time_unit},
    Flag{.name = "output",
         .short_name = 'o',
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::results,
         .commands = with_results,
         .summary = "also write FILE: .json .csv .md .txt .html .svg; - is stdout",
         .details = "Also write the results to FILE, in the format of its ending: `.json`, `.csv`, "
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
         .commands = with_results | bit(Command::list),
         .summary = "format of stdout",
         .details = "Format of the results on stdout.",
         .choices = format_words,
         .update = update_format},
    Flag{.name = "json",
         .category = Category::results,
         .commands = with_results | bit(Command::list),
         .summary = "short for --format json",
         .details = "Short for `--format json`.",
         .update = update_json},
    Flag{.name = "color",
         .value_name = "WHEN",
         .kind = ValueKind::choice,
         .category = Category::results,
         .commands = everywhere,
         .summary = "colours on stdout",
         .details = "Colours on stdout. `auto` means on a terminal, unless NO_COLOR is set.",
         .choices = colour_words,
         .update = update_color},
    Flag{.name = "verbose",
         .short_name = 'v',
         .category = Category::results,
         .commands = everywhere,
         .summary = "every point, and what the driver reported",
         .details = "Show every point, and everything that the driver reported.",
         .update = update_verbose},
    Flag{.name = "quiet",
         .short_name = 'q',
         .category = Category::results,
         .commands = everywhere,
         .summary = "results and errors only: no progress, no advice",
         .details = "Results and errors only: no progress, no advice.",
         .update = update_quiet},
    Flag{.name = "generate",
         .value_name = "WHAT",
         .kind = ValueKind::choice,
         .category = Category::about,
         .commands = bit(Command::generate),
         .summary = "print the man page or a shell's completion",
         .details = "Print the man page, or the completion for a shell: `source <(clprobe "
                    "--generate bash)`.",
         .choices = generate_words,
         .update = update_generate},
    Flag{.name = "version",
         .category = Category::about,
         .commands = everywhere,
         .summary = "version, commit and compiler",
         .details = "Print the version, the commit and the compiler.",
         .update = update_version},
    Flag{.name = "help",
         .short_name = 'h',
         .category = Category::about,
         .commands = everywhere,
         .summary = "this text",
         .details = "Print a summary of this page.",
         .update = update_help},
    // For the tests, which compile every kernel with other vendors' compilers.
    Flag{.name = "builds",
         .category = Category::hidden,
         .commands = bit(Command::builds),
         .summary = "every kernel file with every set of options",
         .details = "Print every kernel file with every set of options and its preamble.",
         .update = update_builds},
    // The measuring child process: how clprobe starts itself, and nobody else should.
    Flag{.name = "worker",
         .category = Category::hidden,
         .commands = bit(Command::worker),
         .summary = "measure for another clprobe",
         .details = "Measure for another clprobe, over file descriptor 3.",
         .update = update_worker},
};

}  // namespace

std::span<const Flag> all_flags() { return flag_rows; }

}  // namespace clprobe::cli
