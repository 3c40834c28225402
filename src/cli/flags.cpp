// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.hpp"

#include <array>

#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr unsigned measuring = bit(Command::measure);
constexpr unsigned with_devices = measuring | bit(Command::list);
constexpr unsigned with_results = measuring | bit(Command::report);
constexpr unsigned everywhere = with_devices | with_results | bit(Command::explain);

constexpr std::array flag_rows{
    Flag{.name = "device",
         .short_name = 'd',
         .value_name = "SEL",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = with_devices,
         .summary = "devices: an index, P:D, part of a name, all, or a comma list of those",
         .details = "Which devices are measured: an index of `clprobe list` (`1`), platform and "
                    "device (`0:1`), part of a name (`H200`), `all`, or a comma list of those. "
                    "Several devices are shown side by side. Without it, the best device.",
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
         .commands = measuring,
         .summary = "series of points to measure",
         .details =
             "Which series of points are measured, as a comma list. Without it, all that the "
             "device has.",
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
    Flag{.name = "max-memory",
         .value_name = "SIZE",
         .kind = ValueKind::text,
         .category = Category::selection,
         .commands = measuring,
         .summary = "most device memory that may be used",
         .details = "The most device memory that may be used. Without it, the least of 1 GiB, the "
                    "largest buffer that the device allows, and a quarter of its memory.",
         .update = update_max_memory},
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
    Flag{.name = "output",
         .short_name = 'o',
         .value_name = "FILE",
         .kind = ValueKind::file,
         .category = Category::results,
         .commands = with_results,
         .summary = "also write FILE: .json, .csv, .md or .txt; - is stdout",
         .details = "Also write the results to FILE, in the format of its ending: `.json`, `.csv`, "
                    "`.md` or `.txt`. `-` is stdout; it and devices such as `/dev/null` take the "
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
