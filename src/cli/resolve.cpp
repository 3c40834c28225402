// SPDX-License-Identifier: Apache-2.0
#include "cli/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "cli/updates.hpp"
#include "cli/values.hpp"
#include "text/text.hpp"

namespace clprobe::cli {
namespace {

constexpr std::string_view list_advice = "`clprobe list` shows all probes";

struct Contradiction {
  std::string_view one;
  std::string_view other;
};

constexpr std::array contradictions{Contradiction{"quick", "thorough"},
                                    Contradiction{"quiet", "verbose"}};

const std::string* typed_value(const Typed& typed, std::string_view name) {
  const auto found = std::find_if(typed.flags.begin(), typed.flags.end(),
                                  [name](const auto& each) { return each.first->name == name; });
  return found == typed.flags.end() ? nullptr : &found->second;
}

const CommandRow* find_command(std::string_view word) {
  const std::span<const CommandRow> rows = all_commands();
  const auto found = std::find_if(rows.begin(), rows.end(), [word](const CommandRow& each) {
    return !each.word.empty() && each.word == word;
  });
  return found == rows.end() ? nullptr : &*found;
}

bool is_measuring(Command command) {
  return command == Command::measure || command == Command::live;
}

void check_probes(const std::vector<std::string>& words,
                  const std::vector<std::string_view>& probes) {
  for (const std::string& word : words) {
    if (std::find(probes.begin(), probes.end(), word) != probes.end()) continue;
    if (find_command(word) != nullptr) {
      throw UsageError(fmt::format("{} is a command: write it as the first word", quote(word)));
    }
    if (word == "run") {
      throw UsageError("unknown word 'run': leave it out; `clprobe PROBE...` measures");
    }
    if (word == "devices" || word == "list-devices") {
      throw UsageError(fmt::format("unknown word {}: write `clprobe list`", quote(word)));
    }
    if (word.find(',') != std::string::npos) {
      std::string apart = word;
      std::replace(apart.begin(), apart.end(), ',', ' ');
      throw UsageError(
          fmt::format("unknown probe {}: separate probes with spaces, as in `clprobe {}`",
                      quote(word), printable(apart)));
    }
    // Only the first word can be a command, but a command's name that is mistyped should be found.
    std::vector<std::string_view> candidates = probes;
    const bool is_first = word == words.front();
    for (const CommandRow& row : all_commands()) {
      if (is_first && is_one_word(row)) candidates.push_back(row.word);
    }
    throw unknown_word(is_first ? "probe or command" : "probe", word, candidates, list_advice);
  }
}

/// What is explained may have several words: "cache or far". Which there are is known to those who
/// have the pages.
void join_explained(Options& options) {
  const std::vector<std::string>& words = options.words;
  if (options.full && words.empty()) {
    throw UsageError("--full needs a probe: write `clprobe explain PROBE --full`");
  }
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  if (!words.empty()) options.words = {joined};
}

void check_words(const Options& options, const std::vector<std::string_view>& probes) {
  const std::vector<std::string>& words = options.words;
  if (is_measuring(options.command)) check_probes(words, probes);
  const bool takes_none = options.command == Command::list || options.command == Command::version;
  if (takes_none && !words.empty()) {
    const std::string_view command = options.command == Command::list ? "list" : "version";
    throw UsageError(
        fmt::format("{} takes no arguments: leave out {}", command, quote(words.front())));
  }
  const bool has_empty = std::find(words.begin(), words.end(), "") != words.end();
  const bool takes_files =
      options.command == Command::compare || options.command == Command::import;
  if (takes_files && (words.empty() || has_empty)) {
    const bool is_import = options.command == Command::import;
    throw UsageError(
        is_import
            ? "import needs files: write `clprobe import FILE...` with results of another tool"
            : "compare needs files: write `clprobe compare FILE FILE... [PROBE...]` with JSON "
              "files saved by -o, or folders of such files");
  }
  if (options.command == Command::report && (words.empty() || has_empty)) {
    throw UsageError(
        "report needs files: write `clprobe report FILE... [PROBE...]` with JSON files saved by "
        "-o");
  }
}

void remove_repeated(std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::string& word : words) {
    if (std::find(kept.begin(), kept.end(), word) == kept.end()) kept.push_back(std::move(word));
  }
  words = std::move(kept);
}

/// "clprobe PROBE --help", "clprobe COMMAND --help": of the command, or of the probes that are
/// named; any other words are of no interest.
void keep_helped(Options& options, const Typed& typed,
                 const std::vector<std::string_view>& probes) {
  options.words = typed.words;
  const bool has_command = !options.words.empty() && find_command(options.words.front()) != nullptr;
  if (has_command && options.words.front() != "help") {
    options.words.resize(1);
    return;
  }
  std::erase_if(options.words, [&](const std::string& word) {
    return std::find(probes.begin(), probes.end(), word) == probes.end();
  });
  remove_repeated(options.words);
}

/// "clprobe help WORD": of nothing that there is not.
void check_helped(Options& options, const std::vector<std::string_view>& probes) {
  for (const std::string& word : options.words) {
    if (find_command(word) != nullptr) continue;
    if (std::find(probes.begin(), probes.end(), word) != probes.end()) continue;
    std::vector<std::string_view> candidates = probes;
    for (const CommandRow& row : all_commands()) {
      if (is_one_word(row)) candidates.push_back(row.word);
    }
    throw unknown_word("probe or command", word, candidates, "`clprobe help` lists them");
  }
  remove_repeated(options.words);
}

/// Words of `report` and `compare` that are probes; a file of such a name is written as ./latency.
void take_probes(Options& options, const std::vector<std::string_view>& probes) {
  std::vector<std::string> files;
  const std::size_t first_words = options.first_side;
  for (std::size_t i = 0; i < options.words.size(); ++i) {
    std::string& word = options.words[i];
    const bool is_probe = std::find(probes.begin(), probes.end(), word) != probes.end();
    if (is_probe && i < first_words) --options.first_side;
    (is_probe ? options.shown_probes : files).push_back(std::move(word));
  }
  options.words = std::move(files);
}

/// The commands that a flag is for: "measuring", "report, compare or import".
std::string commands_of(const Flag& flag) {
  std::vector<std::string_view> words;
  for (const CommandRow& row : all_commands()) {
    if ((flag.commands & bit(row.command)) == 0) continue;
    // `compare` is one word for both.
    if (row.command == Command::live && (flag.commands & bit(Command::compare)) != 0) continue;
    words.push_back(row.word.empty() ? std::string_view("measuring") : row.word);
  }
  return join_choices(words);
}

/// The formats of a command that does not write all of them.
struct FormatRule {
  bool applies;
  std::string_view command;
  bool (*can_write)(const Writer&);
  std::string_view advice{};
};

/// Refuses formats that have no form of what the command writes.
void check_formats(const Options& options) {
  const bool is_comparison =
      options.command == Command::compare || options.command == Command::live;
  const bool is_survey = options.command == Command::profile && options.list_kernels;
  const std::array rules{
      FormatRule{options.command == Command::list, "list",
                 [](const Writer& each) { return each.name == "table" || each.name == "json"; }},
      FormatRule{is_comparison, "compare",
                 [](const Writer& each) { return each.comparison != nullptr; },
                 ": for a chart or the curves of the same files, use clprobe report"},
      FormatRule{is_survey, "profile --list",
                 [](const Writer& each) { return each.survey != nullptr; }}};
  for (const FormatRule& rule : rules) {
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

/// Refuses flags that the command would ignore: whoever typed them expects them to do something.
void check_flags_apply(const Options& options, const Typed& typed, std::string_view command) {
  for (const auto& [flag, value] : typed.flags) {
    const bool applies = (flag->commands & bit(options.command)) != 0;
    if (applies) continue;
    const std::string owners = commands_of(*flag);
    if (owners.empty()) {
      throw UsageError(fmt::format("--{} does not apply to {}: leave it out", flag->name, command));
    }
    // Who types --list may want the command of that name.
    const bool is_command = find_command(flag->name) != nullptr;
    throw UsageError(fmt::format(
        "--{} belongs to {}, not to {}: leave it out{}", flag->name, owners, command,
        is_command ? fmt::format(", or write `clprobe {}`", flag->name) : std::string()));
  }
}

void settle_outputs(Options& options) {
  std::set<std::filesystem::path> seen;
  for (Output& output : options.outputs) {
    if (is_stream_path(output.path)) output.format = options.format;
    // "./a.json" is "a.json"; links are not followed, since nothing here touches the system.
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

}  // namespace

UsageError unknown_word(std::string_view kind, std::string_view word,
                        const std::vector<std::string_view>& candidates, std::string_view advice) {
  const std::optional<std::string_view> meant = nearest(word, candidates);
  const std::string guess = meant ? fmt::format("did you mean '{}'? ", *meant) : std::string();
  return UsageError(fmt::format("unknown {} {}: {}{}", kind, quote(word), guess, advice));
}

void check_contradictions(const Typed& typed) {
  for (const auto& [one, other] : contradictions) {
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

void resolve(Options& options, const Typed& typed, const std::vector<std::string_view>& probes) {
  switch (options.command) {
    case Command::help:
      keep_helped(options, typed, probes);
      return;
    case Command::version:
      options.words.clear();
      return;
    case Command::generate:
      if (!typed.words.empty()) {
        throw UsageError(fmt::format("--generate takes no further arguments: leave out {}",
                                     quote(typed.words.front())));
      }
      check_flags_apply(options, typed, "--generate");
      return;
    case Command::builds:
    case Command::worker:
      options.words = typed.words;
      return;
    case Command::measure:
    case Command::list:
    case Command::explain:
    case Command::report:
    case Command::compare:
    case Command::live:
    case Command::import:
    case Command::profile:
      break;
  }
  options.words = typed.words;
  const CommandRow* row = options.words.empty() ? nullptr : find_command(options.words.front());
  if (row != nullptr) {
    options.command = row->command;
    options.words.erase(options.words.begin());
  }
  if (options.command == Command::compare && typed_value(typed, "live") != nullptr) {
    options.command = Command::live;
    row = find_command("compare --live");
  }
  check_flags_apply(options, typed, row != nullptr ? row->word : "measuring");
  if (options.command == Command::help) check_helped(options, probes);
  check_formats(options);
  if (options.command == Command::explain) join_explained(options);
  const bool shows_runs = options.command == Command::report || options.command == Command::compare;
  if (shows_runs) take_probes(options, probes);
  check_words(options, probes);
  // A probe that is named twice is measured once; a file may well be shown beside itself.
  if (is_measuring(options.command)) remove_repeated(options.words);
  // A first look is enough to know what to take turns at.
  const bool has_effort = typed_value(typed, "thorough") != nullptr;
  if (options.command == Command::live && !has_effort) options.effort = Effort::quick;
  settle_outputs(options);
}

}  // namespace clprobe::cli
