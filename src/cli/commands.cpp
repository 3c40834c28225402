// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "cli/flags.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array commands{
    CommandRow{.word = "",
               .arguments = "[PROBE [ITS OPTIONS]]...",
               .command = Command::measure,
               .summary = "measure all probes, or those named",
               .details = "Measure the named probes, or all of them, and print what they found. A "
                          "probe's own options follow its name; where only one probe is named, "
                          "they may stand anywhere."},
    CommandRow{.word = "list",
               .command = Command::list,
               .summary = "list devices and probes",
               .details = "List the devices, the simulated machines and the probes."},
    CommandRow{
        .word = "explain",
        .arguments = "[PROBE|PAGE|TERM]",
        .command = Command::explain,
        .summary = "what a probe measures and finds, or what a word means",
        .details =
            "Print what a probe measures, what its findings mean and what can fool it; with "
            "`--full` how it does that, too. Or say what a word of the reports means: "
            "`clprobe explain knee`, `clprobe explain cache or far`; or print a page that is "
            "of no probe: `clprobe explain method`. Without a word, list them all. On a "
            "terminal through `$PAGER`."},
    CommandRow{.word = "report",
               .arguments = "FILE... [PROBE...]",
               .command = Command::report,
               .summary = "print runs that were saved as JSON, side by side",
               .details =
                   "Print runs that were saved with `-o FILE.json`, side by side; of the named "
                   "probes and `--series`, or of all. `-` is stdin. Findings are made anew from "
                   "the samples."},
    CommandRow{
        .word = "compare",
        .arguments = "FILE... [PROBE...]",
        .command = Command::compare,
        .summary = "say what differs between runs: files or folders of JSON",
        .details =
            "Set the findings of two or more saved runs beside those of a baseline, and say "
            "of each whether it is the same, better, worse, different or unclear. A folder "
            "stands for all `.json` files in it. With `--` between the files, those before it are "
            "several runs of the baseline and those behind it of the other side: then what "
            "differs from run to run counts. Named probes alone are compared. With `-v`, the "
            "reason "
            "of every verdict."},
    CommandRow{
        .word = "compare --live",
        .arguments = "[PROBE [ITS OPTIONS]]...",
        .command = Command::live,
        .summary = "measure two devices, or one under two drivers, alternately",
        .details =
            "Measure two sides and compare their headlines. Side A, the baseline, is `--device` "
            "with `--a-env`, side B `--b-device` with `--b-env`. Each side is measured once, by "
            "default as with `--quick`; then what both found is measured in turns until every "
            "headline is decided or `--time-budget` is used up. What disturbs the host meets both "
            "sides alike, so that far smaller changes are seen than between two runs."},
    CommandRow{
        .word = "import",
        .arguments = "FILE...",
        .command = Command::import,
        .summary = "read other tools' results, to report and compare them",
        .details =
            "Make run documents of what other tools wrote: clmempatterns, clpeak, mt4g, "
            "nvbandwidth, gpu-latency, gpu-cache, cuda-memcpy, lat_mem_rd, and lists of sizes and "
            "latencies (`clprobe explain formats`). Write them with `-o FILE.json`. They say "
            "where they come from, have no samples, and can be reported and compared like "
            "others."},
    CommandRow{
        .word = "profile",
        .arguments = "[--list] -- PROGRAM [ARGUMENT]... | FOLDER...",
        .command = Command::profile,
        .summary = "find, capture and replay the kernels of any OpenCL program",
        .details =
            "Run a program, and find the kernels that it launches through OpenCL, on whatever "
            "device; with `--list`, list them by device time. Else run it once more, capture a "
            "launch of each kernel that counts, and replay these. The program needs no "
            "change; its loader must be ocl-icd 2.3 or newer, or Khronos'. What it writes to "
            "stdout goes to stderr. FOLDER is what `--keep` kept. `clprobe explain profile` says "
            "what can fool it."},
    CommandRow{.word = "help",
               .arguments = "[COMMAND|PROBE]",
               .command = Command::help,
               .summary = "the options, or those of a command or a probe",
               .details = "Print a summary of the manual, or what it says of a command or a probe. "
                          "`--help` is the same."},
    CommandRow{.word = "version",
               .command = Command::version,
               .summary = "version, commit and compiler",
               .details = "Print the version, the commit and the compiler, as `--version` does."},
};

}  // namespace

std::span<const CommandRow> all_commands() { return commands; }

bool is_one_word(const CommandRow& row) {
  return !row.word.empty() && row.word.find(' ') == std::string_view::npos;
}

std::string_view title_of(Category category) {
  switch (category) {
    case Category::selection:
      return "What to measure";
    case Category::effort:
      return "How long and how well";
    case Category::comparing:
      return "Comparing";
    case Category::profiling:
      return "Profiling programs";
    case Category::importing:
      return "Importing";
    case Category::results:
      return "Results";
    case Category::about:
      return "About clprobe";
    case Category::of_probe:
    case Category::hidden:
      break;
  }
  return "Hidden";
}

const Flag* find_flag(std::string_view name) {
  const std::span<const Flag> flags = all_flags();
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [name](const Flag& each) { return each.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

std::vector<Flag> visible_flags() {
  std::vector<Flag> flags;
  for (const Flag& flag : all_flags()) {
    if (flag.category != Category::hidden) flags.push_back(flag);
  }
  return flags;
}

std::string join_choices(std::span<const std::string_view> choices) {
  std::string joined;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool is_last = i + 1 == choices.size();
    if (i > 0) joined += is_last ? " or " : ", ";
    joined += choices[i];
  }
  return joined;
}

}  // namespace clprobe::cli
