// SPDX-License-Identifier: Apache-2.0
#include "app/cli/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "app/cli/values.hpp"
#include "text/api/text.hpp"

namespace clprobe::cli {
namespace {

using Words = std::vector<std::string>;
using Names = std::vector<std::string_view>;

const std::string* typed_value(const Typed& typed, std::string_view name) {
  const auto found = std::ranges::find_if(
      typed.flags, [name](const auto& each) { return each.first->name == name; });
  return found == typed.flags.end() ? nullptr : &found->second;
}

Names with_commands(Names names) {
  const Names words = command_words();
  names.insert(names.end(), words.begin(), words.end());
  return names;
}

void remove_repeated(Words& words) {
  Words kept;
  for (std::string& word : words) add_once(kept, std::move(word));
  words = std::move(kept);
}

void check_contradictions(const Typed& typed) {
  using Pair = std::pair<std::string_view, std::string_view>;
  for (const auto& [one, other] : {Pair{"quick", "thorough"}, Pair{"quiet", "verbose"}}) {
    if (typed_value(typed, one) != nullptr && typed_value(typed, other) != nullptr) {
      throw UsageError(fmt::format("--{} and --{} cannot be combined: choose one", one, other));
    }
  }
  const std::string* const format = typed_value(typed, "format");
  if (typed_value(typed, "json") != nullptr && format != nullptr && *format != "json") {
    throw UsageError(
        fmt::format("--json and --format {} cannot be combined: choose one", quote(*format)));
  }
}

void check_probes(const Words& words, const Names& probes) {
  for (const std::string& word : words) {
    if (contains(probes, word)) continue;
    if (find_command(word) != nullptr) {
      throw UsageError(fmt::format("{} is a command: write it as the first word", quote(word)));
    }
    if (word == "run") {
      throw UsageError("unknown word 'run': leave it out; `clprobe PROBE...` runs probes");
    }
    if (word == "devices" || word == "list-devices") {
      throw UsageError(fmt::format("unknown word {}: use `clprobe list`", quote(word)));
    }
    if (word.find(',') != std::string::npos) {
      std::string apart = word;
      std::ranges::replace(apart, ',', ' ');
      throw UsageError(
          fmt::format("unknown probe {}: separate probes with spaces, as in `clprobe {}`",
                      quote(word), printable(apart)));
    }
    // Only the first word can be a command.
    const bool is_first = word == words.front();
    throw unknown_word(is_first ? "probe or command" : "probe", word,
                       is_first ? with_commands(probes) : probes,
                       "`clprobe list` shows all probes");
  }
}

void check_files(const Words& files, std::string_view command, std::string_view how) {
  if (!files.empty() && !contains(files, std::string_view())) return;
  throw UsageError(fmt::format("{} needs files: use `clprobe {} {}", command, command, how));
}

/// Refuses words that the command does not take, removes repeated probes, and joins the words of
/// `explain` ("cache or far") into one.
void settle_words(Options& options, const Names& probes) {
  Words& words = options.words;
  switch (options.command) {
    case Command::measure:
    case Command::live:
      check_probes(words, probes);
      return remove_repeated(words);
    case Command::list:
    case Command::version:
      if (words.empty()) return;
      throw UsageError(fmt::format("{} takes no arguments: leave out {}",
                                   options.command == Command::list ? "list" : "version",
                                   quote(words.front())));
    case Command::explain:
      if (options.full && words.empty()) {
        throw UsageError("--full needs a probe: use `clprobe explain PROBE --full`");
      }
      if (!words.empty()) words = {fmt::format("{}", fmt::join(words, " "))};
      return;
    case Command::report:
      return check_files(words, "report", "FILE... [PROBE...]` with JSON files saved with -o");
    case Command::describe:
      if (words.empty()) return;
      return check_files(words, "describe", "FILE...` with JSON files saved with -o");
    case Command::doctor:
      if (words.empty()) return;
      return check_files(words, "doctor", "FILE...` with JSON files saved with -o");
    case Command::fleet_report:
      return check_files(words, "fleet report", "FOLDER` with a run per device");
    case Command::compare:
      return check_files(
          words, "compare",
          "FILE FILE... [PROBE...]` with JSON files saved with -o, or folders of such files");
    case Command::import:
      return check_files(words, "import", "FILE...` with results of another tool");
    case Command::help:
      for (const std::string& word : words) {
        if (find_command(word) != nullptr || contains(probes, word)) continue;
        throw unknown_word("probe or command", word, with_commands(probes),
                           "`clprobe help` lists them");
      }
      return remove_repeated(words);
    default:
      return;
  }
}

/// Keeps only the words that --help describes: the command, or the named probes.
void keep_helped(Options& options, const Names& probes) {
  Words& words = options.words;
  if (!words.empty() && find_command(words.front()) != nullptr && words.front() != "help") {
    words.resize(1);
    return;
  }
  std::erase_if(words, [&](const std::string& word) { return !contains(probes, word); });
  remove_repeated(words);
}

/// Moves words that are probes to `shown_probes`, and removes them from the count `first_side`. A
/// file with the name of a probe must be typed with a folder: ./latency.
void take_probes(Options& options, const Names& probes) {
  Words files;
  const std::size_t first_words = options.first_side;
  for (std::size_t i = 0; i < options.words.size(); ++i) {
    std::string& word = options.words[i];
    const bool is_probe = contains(probes, word);
    if (is_probe && i < first_words) --options.first_side;
    (is_probe ? options.shown_probes : files).push_back(std::move(word));
  }
  options.words = std::move(files);
}

/// Returns the commands that accept a flag: "measuring", "report, compare or import".
std::string commands_of(const Flag& flag) {
  Names words;
  for (const CommandRow& row : all_commands()) {
    if ((flag.commands & bit(row.command)) == 0) continue;
    // If `compare` accepts the flag, `compare --live` is not listed separately.
    if (row.command == Command::live && (flag.commands & bit(Command::compare)) != 0) continue;
    words.push_back(row.word.empty() ? std::string_view("measuring") : row.word);
  }
  return join_choices(words);
}

/// Throws UsageError if an output has a format that cannot show the results of the command.
void check_formats(const Options& options) {
  struct Rule {
    bool applies;
    std::string_view command;
    bool (*can_write)(const Writer&);
    std::string_view advice{};
  };
  const bool is_comparison =
      options.command == Command::compare || options.command == Command::live;
  const bool is_survey = options.command == Command::profile && options.list_kernels;
  const bool is_fleet = options.command == Command::fleet_report;
  const bool shows_runs = !is_comparison && !is_survey && !is_fleet;
  const std::array rules{
      Rule{options.command == Command::list, "list",
           [](const Writer& each) { return each.name == "table" || each.name == "json"; }},
      Rule{is_comparison, "compare", [](const Writer& each) { return each.comparison != nullptr; },
           "; `clprobe report` writes this format for the same files"},
      Rule{is_fleet, "fleet report", [](const Writer& each) { return each.fleet != nullptr; }},
      Rule{shows_runs, "this command", [](const Writer& each) { return each.runs != nullptr; },
           "; only `fleet report` writes it"},
      Rule{is_survey, "profile --list", [](const Writer& each) { return each.survey != nullptr; }}};
  for (const Rule& rule : rules) {
    const auto check = [&](const Writer& format, std::string_view flag) {
      if (!rule.applies || rule.can_write(format)) return;
      throw UsageError(fmt::format("{}: {} writes {}, not {}{}", flag, rule.command,
                                   join_choices(format_names(rule.can_write)), format.name,
                                   rule.advice));
    };
    check(*options.format, "--format");
    for (const Output& output : options.outputs) check(*output.format, "--output");
  }
}

void check_flags_apply(const Options& options, const Typed& typed, std::string_view command) {
  for (const auto& [flag, value] : typed.flags) {
    if ((flag->commands & bit(options.command)) != 0) continue;
    const std::string owners = commands_of(*flag);
    if (owners.empty()) {
      throw UsageError(fmt::format("--{} does not apply to {}: leave it out", flag->name, command));
    }
    // If a command has the name of the flag, the user may mean the command: `list` instead of
    // --list.
    const bool is_command = find_command(flag->name) != nullptr;
    throw UsageError(
        fmt::format("--{} belongs to {}, not to {}: leave it out{}", flag->name, owners, command,
                    is_command ? fmt::format(", or use `clprobe {}`", flag->name) : std::string()));
  }
}

void settle_outputs(Options& options) {
  std::set<std::filesystem::path> seen;
  for (Output& output : options.outputs) {
    if (is_stream_path(output.path)) output.format = options.format;
    // Paths are compared as texts: "./a.json" equals "a.json", but links are not followed.
    if (!seen.insert(std::filesystem::path(output.path).lexically_normal()).second) {
      throw UsageError(fmt::format("--output names {} twice: leave one out", quote(output.path)));
    }
  }
  const std::filesystem::path runs = std::filesystem::path(options.runs_file).lexically_normal();
  if (!runs.empty() && seen.contains(runs)) {
    throw UsageError(fmt::format("--runs and -o both name {}: write the runs to another file",
                                 quote(options.runs_file)));
  }
}

/// Throws UsageError unless exactly one of these is given: a program, captured launches, or a
/// kernel file.
void check_profiled(const Options& options) {
  const bool has_program = !options.app.empty() && !options.app.front().empty();
  const bool has_kernel = !options.kernel_file.empty() || !options.launch_file.empty();
  const Words& folders = options.words;
  if (has_program && !folders.empty()) {
    throw UsageError(fmt::format("{} needs -- before it: use `clprobe profile -- {}`",
                                 quote(folders.front()), printable(folders.front())));
  }
  const bool has_none = !has_program && folders.empty() && !has_kernel;
  if (has_none || (!options.app.empty() && !has_program)) {
    throw UsageError(
        "profile needs a program or a captured launch: use `clprobe profile -- PROGRAM` or "
        "`clprobe profile FOLDER`");
  }
  if (has_kernel && (has_program || !folders.empty())) {
    throw UsageError(
        "--kernel-file launches a kernel without its application: leave out the application or "
        "folder");
  }
  if (options.kernel_file.empty() && !options.launch_file.empty()) {
    throw UsageError("--launch needs the kernel's source: add --kernel-file FILE.cl");
  }
}

/// Refuses flags that require a program if there is none. Refuses flags that have no effect with
/// `profile --list`, which measures nothing.
void check_profile_flags(const Options& options, const Typed& typed) {
  constexpr std::array<std::string_view, 4> of_programs{"list", "kernel", "keep", "with-secrets"};
  constexpr std::array<std::string_view, 8> of_surveys{
      "list", "output", "format", "json", "color", "verbose", "with-secrets", "device"};
  for (const auto& [flag, value] : typed.flags) {
    if (options.app.empty() && contains(of_programs, flag->name)) {
      throw UsageError(
          fmt::format("--{} needs a program: use `clprobe profile --{} ... -- PROGRAM`", flag->name,
                      flag->name));
    }
    if (options.list_kernels && !contains(of_surveys, flag->name)) {
      throw UsageError(
          fmt::format("--{} does not apply to profile --list: leave one of them out", flag->name));
    }
  }
}

/// Refuses conditions of --fail-on that belong to the other command.
void check_fail_on(const Options& options) {
  if (options.fail_on == FailOn::never) return;
  const bool is_of_fleets = options.fail_on >= FailOn::slow;
  if (is_of_fleets == (options.command == Command::fleet_report)) return;
  throw UsageError(is_of_fleets ? "--fail-on: compare knows worse and changed: choose one"
                                : "--fail-on: fleet report knows slow, suspect and missing: choose "
                                  "one");
}

/// Refuses names of probes, since the command chooses its probes. If files are named, refuses flags
/// that affect only measurements.
void check_described(const Options& options, const Typed& typed, const Names& probes) {
  for (const std::string& word : options.words) {
    if (!contains(probes, word)) continue;
    throw UsageError(fmt::format("{}: leave out {}, or name a saved run",
                                 options.command == Command::doctor
                                     ? "doctor chooses its probes"
                                     : "describe measures with all probes",
                                 quote(word)));
  }
  if (options.words.empty()) return;
  for (const auto& [flag, value] : typed.flags) {
    if (flag->category != Category::selection && flag->category != Category::effort) continue;
    throw UsageError(
        fmt::format("--{} applies to measurements, not to files: leave out the option or the files",
                    flag->name));
  }
}

/// Removes the command, and its verb, from the words, and stores it. Returns its row; null if the
/// command line measures. Throws UsageError for a missing or unknown verb.
const CommandRow* take_command(Options& options) {
  Words& words = options.words;
  const CommandRow* row = words.empty() ? nullptr : find_command(words.front());
  if (row == nullptr) return nullptr;
  words.erase(words.begin());
  if (has_verb(*row)) {
    const std::string_view first = first_word(*row);
    Names verbs;
    for (const CommandRow& each : all_commands()) {
      if (has_verb(each) && first_word(each) == first) {
        verbs.push_back(each.word.substr(first.size() + 1));
      }
    }
    if (words.empty()) {
      throw UsageError(fmt::format("{} needs {}: `clprobe help {}` describes them", first,
                                   join_choices(verbs), first));
    }
    row = find_verb(*row, words.front());
    if (row == nullptr) {
      throw unknown_word("verb of " + std::string(first), words.front(), verbs,
                         "choose " + join_choices(verbs));
    }
    words.erase(words.begin());
  }
  options.command = row->command;
  return row;
}

}  // namespace

UsageError unknown_word(std::string_view kind, std::string_view word,
                        const std::vector<std::string_view>& candidates, std::string_view advice) {
  const std::optional<std::string_view> meant = nearest(word, candidates);
  const std::string guess = meant ? fmt::format("did you mean '{}'? ", *meant) : std::string();
  return UsageError(fmt::format("unknown {} {}: {}{}", kind, quote(word), guess, advice));
}

void resolve(Options& options, const Typed& typed, const std::vector<std::string_view>& probes) {
  check_contradictions(typed);
  const std::string generated = options.words.empty() ? "" : options.words.front();
  options.words = typed.words;
  if (options.command == Command::help) return keep_helped(options, probes);
  if (options.command == Command::version) return options.words.clear();
  if (options.command == Command::worker) return;
  if (options.command == Command::generate) {
    if (!typed.words.empty()) {
      throw UsageError(fmt::format("--generate takes no further arguments: leave out {}",
                                   quote(typed.words.front())));
    }
    options.words = {generated};
    return check_flags_apply(options, typed, "--generate");
  }
  const CommandRow* const row = take_command(options);
  if (options.command == Command::compare && typed_value(typed, "live") != nullptr) {
    options.command = Command::live;
    if (options.first_side > 0) {
      throw UsageError(
          "-- does not apply to compare --live: describe side B with --b-device and --b-env");
    }
    // The first measurement of both sides only selects the points for the alternating passes, so it
    // is quick.
    if (typed_value(typed, "thorough") == nullptr) options.effort = Effort::quick;
  }
  const bool is_live = options.command == Command::live;
  check_flags_apply(options, typed,
                    is_live          ? "compare --live"
                    : row != nullptr ? row->word
                                     : "measuring");
  check_formats(options);
  const bool shows_runs = options.command == Command::report || options.command == Command::compare;
  if (shows_runs) take_probes(options, probes);
  settle_words(options, probes);
  check_fail_on(options);
  settle_outputs(options);
  if (options.command == Command::describe || options.command == Command::doctor) {
    check_described(options, typed, probes);
  }
  if (options.command == Command::profile) {
    check_profiled(options);
    check_profile_flags(options, typed);
  }
}

}  // namespace clprobe::cli
