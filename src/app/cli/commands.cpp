// SPDX-License-Identifier: Apache-2.0
#include "app/cli/flags.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "text/api/text.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array commands{
    CommandRow{
        .word = "",
        .arguments = "[PROBE [ITS OPTIONS]]...",
        .command = Command::measure,
        .summary = "run all probes, or the named ones",
        .details =
            "Run the named probes, or all probes, and print their findings. A probe's options "
            "follow its name; if only one probe is named, its options may appear anywhere."},
    CommandRow{.word = "list",
               .command = Command::list,
               .summary = "list devices and probes",
               .details = "List the devices, the simulated devices and the probes."},
    CommandRow{.word = "explain",
               .arguments = "[PROBE|PAGE|TERM]",
               .command = Command::explain,
               .summary = "explain a probe, a page or a term of the output",
               .details = "Print what a probe measures, what its findings mean and what can fool "
                          "it; `--full` adds the method. The argument may also be a term of the "
                          "output (`clprobe explain knee`, `clprobe explain cache or far`) or "
                          "another page (`clprobe explain method`). Without an argument, list all "
                          "probes, pages and terms. On a terminal, `$PAGER` shows the text."},
    CommandRow{.word = "report",
               .arguments = "FILE... [PROBE...]",
               .command = Command::report,
               .summary = "print saved runs (JSON files) side by side",
               .details = "Print runs that were saved with `-o FILE.json`, side by side. Named "
                          "probes and `--series` select a part of the results. `-` is stdin. "
                          "clprobe computes the findings again from the samples."},
    CommandRow{.word = "describe",
               .arguments = "[FILE]...",
               .command = Command::describe,
               .summary = "write the device's main numbers as short JSON, for other programs",
               .details = "Run all probes, or read saved runs (JSON files), and write about 60 "
                          "numbers per device as JSON: capacities, bandwidths, latencies, "
                          "peaks and costs, with intervals. Names and units are stable (`clprobe "
                          "explain describe`). `-o FILE` takes any file name. The output has no "
                          "samples: to keep the samples, save a run, then describe that run."},
    CommandRow{.word = "doctor",
               .arguments = "[FILE]...",
               .command = Command::doctor,
               .summary = "check a device and its driver, within a minute",
               .details = "Run a few probes with `--quick`, or read saved runs (JSON files), and "
                          "print what works, what limits the device, and what the driver does "
                          "wrong. Exit code 1 means that a problem was found. `-o FILE.json` saves "
                          "the run, to attach it to a report."},
    CommandRow{.word = "fleet report",
               .arguments = "FOLDER",
               .command = Command::fleet_report,
               .summary = "find the slow devices of a fleet (a folder of runs)",
               .details =
                   "Compare the runs below a folder, one per device, and name the devices that are "
                   "slow for the fleet, with metric, deviation and likely cause. The last line "
                   "lists the nodes of slow devices, missing nodes and failed runs as a host list. "
                   "Needs eight devices of a model, or `--reference`."},
    CommandRow{
        .word = "compare",
        .arguments = "FILE... [PROBE...]",
        .command = Command::compare,
        .summary = "report the differences between runs (JSON files or folders)",
        .details =
            "Compare two or more saved runs, the first of which is the baseline by default. For "
            "each finding, report whether it is the same as in the baseline, better, worse, "
            "different or unclear. A folder stands for all `.json` files below it. If `--` "
            "separates the files, the files before it are baseline runs and the files after it are "
            "new runs. The verdicts then account for run-to-run variation. To compare only some "
            "probes, name these probes. `-v` adds the reason for every verdict."},
    CommandRow{
        .word = "compare --live",
        .arguments = "[PROBE [ITS OPTIONS]]...",
        .command = Command::live,
        .summary = "measure two devices, or one device under two drivers, alternately",
        .details =
            "Measure two sides and compare their main findings. Side A, the baseline, "
            "is `--device` with `--a-env`; side B is `--b-device` with `--b-env`. clprobe measures "
            "each side once, by default as with `--quick`. It then alternates between the sides "
            "until every main finding is decided or `--time-budget` is used up. Disturbances of "
            "the host affect both sides alike, so alternating detects far smaller changes than a "
            "comparison of two saved runs."},
    CommandRow{.word = "import",
               .arguments = "FILE...",
               .command = Command::import,
               .summary = "convert other tools' results, to report and compare them",
               .details =
                   "Convert results of other tools to run documents. Supported tools: "
                   "clmempatterns, clpeak, mt4g, nvbandwidth, gpu-latency, gpu-cache, "
                   "cuda-memcpy and lat_mem_rd. Lists of sizes and latencies also work "
                   "(`clprobe explain formats`). Save the documents with `-o FILE.json`. Each "
                   "document names its source and has no samples. Report and compare these "
                   "documents like other runs."},
    CommandRow{.word = "profile",
               .arguments = "[--list] -- PROGRAM [ARGUMENT]... | FOLDER...",
               .command = Command::profile,
               .summary = "find, capture and replay the kernels of any OpenCL program",
               .details =
                   "Run a program and find the kernels that it launches through OpenCL on any "
                   "device. With `--list`, list these kernels by device time. Without `--list`, "
                   "run the program once more, capture a launch of each important kernel, and "
                   "replay and measure these launches. The program runs unmodified, but it needs "
                   "an OpenCL loader that supports layers: ocl-icd 2.3 or later, or Khronos' "
                   "loader. The program's stdout goes to stderr. FOLDER contains a launch stored "
                   "by `--keep`. `clprobe explain profile` describes the method and its limits."},
    CommandRow{.word = "help",
               .arguments = "[COMMAND|PROBE]",
               .command = Command::help,
               .summary = "show this summary, or the options of a command or probe",
               .details = "Print a summary of the manual, or the help of a command or a probe. "
                          "`--help` does the same."},
    CommandRow{.word = "version",
               .command = Command::version,
               .summary = "print version, commit and compiler",
               .details = "Print the version, the commit and the compiler, as `--version` does."},
};

}  // namespace

std::span<const CommandRow> all_commands() { return commands; }

std::string_view first_word(const CommandRow& row) {
  return row.word.substr(0, row.word.find(' '));
}

bool has_verb(const CommandRow& row) {
  const std::size_t space = row.word.find(' ');
  return space != std::string_view::npos && row.word[space + 1] != '-';
}

const CommandRow* find_command(std::string_view word) {
  if (word.empty()) return nullptr;
  const auto* found = std::ranges::find(commands, word, &CommandRow::word);
  if (found != commands.end()) return found;
  found = std::ranges::find_if(commands, [word](const CommandRow& each) {
    return first_word(each) == word && has_verb(each);
  });
  return found == commands.end() ? nullptr : found;
}

const CommandRow* find_verb(const CommandRow& command, std::string_view verb) {
  const auto* const found = std::ranges::find_if(commands, [&](const CommandRow& each) {
    return has_verb(each) && first_word(each) == first_word(command) &&
           each.word.substr(first_word(each).size() + 1) == verb;
  });
  return found == commands.end() ? nullptr : found;
}

std::vector<std::string_view> command_words() {
  std::vector<std::string_view> words;
  for (const CommandRow& row : commands) {
    if (!row.word.empty()) add_once(words, first_word(row));
  }
  return words;
}

std::string_view title_of(Category category) {
  switch (category) {
    case Category::selection:
      return "What to measure";
    case Category::effort:
      return "Time and accuracy";
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
  const auto found = std::ranges::find(flags, name, &Flag::name);
  return found == flags.end() ? nullptr : &*found;
}

const Flag* find_flag(char letter) {
  const std::span<const Flag> flags = all_flags();
  const auto found = std::ranges::find_if(
      flags, [letter](const Flag& each) { return letter != '\0' && each.short_name == letter; });
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

namespace {

ValueKind kind_of(const ValueSpec& value) {
  if (std::holds_alternative<Choice>(value)) return ValueKind::choice;
  if (std::holds_alternative<TracePath>(value)) return ValueKind::file;
  const auto* const words = std::get_if<Choices>(&value);
  return words != nullptr && !words->words.empty() ? ValueKind::choices : ValueKind::text;
}

std::span<const std::string_view> choices_of(const ValueSpec& value) {
  if (const auto* const one = std::get_if<Choice>(&value)) return one->words;
  if (const auto* const some = std::get_if<Choices>(&value)) return some->words;
  return {};
}

Option option_of_series(std::span<const std::string_view> names) {
  return {
      .name = series_option,
      .value_name = "LIST",
      .summary = "series to measure, separated by commas (default: all)",
      .details = "Series to measure, separated by commas. Default: all that the device supports.",
      .value = Choices{names}};
}

}  // namespace

ProbeFlags::ProbeFlags(const Probe& of)
    : probe(&of), options(of.options.begin(), of.options.end()) {
  for (const Series& each : of.series) series_names.push_back(each.name);
  if (!series_names.empty()) options.push_back(option_of_series(series_names));
  for (const Option& option : options) {
    flags.push_back({.name = option.name,
                     .value_name = option.value_name,
                     .kind = kind_of(option.value),
                     .category = Category::of_probe,
                     .commands = bit(Command::measure),
                     .summary = option.summary,
                     .details = option.details,
                     .choices = choices_of(option.value),
                     .spec = &option.value});
  }
}

const Flag* ProbeFlags::find(std::string_view name) const {
  const auto found = std::ranges::find(flags, name, &Flag::name);
  return found == flags.end() ? nullptr : &*found;
}

std::vector<ProbeFlags> flags_of(std::span<const Probe* const> probes) {
  std::vector<ProbeFlags> all;
  all.reserve(probes.size());
  for (const Probe* const probe : probes) all.emplace_back(*probe);
  return all;
}

}  // namespace clprobe::cli
