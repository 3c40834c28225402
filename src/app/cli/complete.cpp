// SPDX-License-Identifier: Apache-2.0
// Completion in shells. The completion script of a shell passes the words before the cursor to
// `clprobe --complete`, which prints a line with the kind of completion, and a line per candidate.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "app/cli/flags.hpp"
#include "app/cli/values.hpp"

namespace clprobe::cli {
namespace {

constexpr std::string_view bash_script = R"bash(# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate bash.
_clprobe() {
  local each kind='' word=${COMP_WORDS[COMP_CWORD]} before
  local -a typed=()
  # bash splits words at "=" and ":", and replaces what follows them.
  for each in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#typed[@]} -gt 0 && ($each == [=:] || ${typed[-1]} == *[=:]) ]]; then
      typed[-1]+=$each
    else
      typed+=("$each")
    fi
  done
  [[ $word != [=:] ]] || word=''
  before=${typed[-1]%"$word"}
  COMPREPLY=()
  {
    read -r kind
    mapfile -t COMPREPLY
  } < <("${COMP_WORDS[0]}" --complete "${typed[@]}" 2>/dev/null | cut -f 1)
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
  if [[ $kind == list ]]; then
    compopt -o nospace 2>/dev/null
  elif [[ $kind == files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F _clprobe clprobe
)bash";

constexpr std::string_view zsh_script = R"zsh(#compdef clprobe
# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate zsh.
_clprobe() {
  local line
  local -a answer offered
  answer=("${(@f)$(${words[1]} --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in ${answer[2,-1]}; do
    offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if [[ $answer[1] == list ]]; then
    _describe clprobe offered -S ''
  else
    _describe clprobe offered
  fi
  if [[ $answer[1] == files ]]; then
    compset -P '--*='
    _files
  fi
}
if [[ ${funcstack[1]} == _clprobe ]]; then
  _clprobe "$@"
else
  compdef _clprobe clprobe
fi
)zsh";

constexpr std::string_view fish_script = R"fish(# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate fish.
function __clprobe_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l answer ($words[1] --complete $words[2..] "$word" 2>/dev/null)
    string join \n -- $answer[2..]
    test "$answer[1]" = files; and __fish_complete_path (string replace -r '^--[a-z-]+=' '' -- "$word")
end
complete -c clprobe -f -a '(__clprobe_complete)'
)fish";

/// Meaning of the words before the word to complete.
struct Context {
  const CommandRow* command{nullptr};  ///< typed command; null: none
  bool is_live{false};
  std::vector<const Probe*> probes{};  ///< probes in the order typed
  const Flag* pending{nullptr};        ///< flag whose value is the next word; null: none
  bool is_of_program{false};           ///< true: the word to complete follows the `--` of `profile`
  bool is_first{true};                 ///< true: no file, probe or term typed yet
  std::optional<ProbeFlags> own{};     ///< options of the last probe typed

  [[nodiscard]] bool measures() const { return command == nullptr || is_live; }
};

bool takes_value(const Flag* flag) { return flag != nullptr && flag->kind != ValueKind::none; }

/// Returns the flag of a word such as "--grid", "--grid=64" or "-o"; null if no flag matches.
const Flag* flag_of(std::string_view word, const Context& context) {
  if (!word.starts_with("--")) {
    return word.size() == 2 && word.front() == '-' ? find_flag(word[1]) : nullptr;
  }
  const std::string_view name = word.substr(2, word.find('=') - 2);
  const Flag* const own = context.own && context.measures() ? context.own->find(name) : nullptr;
  return own != nullptr ? own : find_flag(name);
}

Context read_context(std::span<const std::string> words, std::span<const Probe* const> probes) {
  Context context;
  for (const std::string& word : words) {
    if (std::exchange(context.pending, nullptr) != nullptr) continue;
    if (word == "--" && context.command != nullptr) {
      context.is_of_program = context.command->command == Command::profile;
      continue;
    }
    if (word.starts_with('-')) {
      const Flag* const flag = flag_of(word, context);
      if (takes_value(flag) && word.find('=') == std::string::npos) context.pending = flag;
      context.is_live = context.is_live || word == "--live";
      continue;
    }
    const auto probe =
        std::ranges::find_if(probes, [&](const Probe* each) { return each->id == word; });
    const bool can_be_command = context.command == nullptr && context.probes.empty();
    const CommandRow* const command = can_be_command ? find_command(word) : nullptr;
    if (command != nullptr) {
      context.command = command;
      continue;
    }
    context.is_first = false;
    if (probe == probes.end()) continue;
    context.probes.push_back(*probe);
    context.own.emplace(**probe);
  }
  context.is_live =
      context.is_live && context.command != nullptr && context.command->command == Command::compare;
  return context;
}

class Candidates {
 public:
  explicit Candidates(std::string_view typed) : typed_(typed) {}

  void add(std::string_view word, std::string_view description) {
    if (!word.starts_with(typed_)) return;
    lines_ += fmt::format("{}\t{}\n", word, description);
  }
  [[nodiscard]] std::string text(std::string_view kind) const {
    return fmt::format("{}\n{}", kind, lines_);
  }

 private:
  std::string_view typed_;
  std::string lines_{};
};

std::vector<Described> values_of(const Flag& flag, const Completed& known) {
  if (flag.kind == ValueKind::devices) return known.devices();
  std::vector<Described> values;
  for (const std::string_view choice : flag.choices) values.push_back({std::string(choice), {}});
  if (flag.kind != ValueKind::series) return values;
  for (const Probe* const probe : known.probes) {
    for (const Series& series : probe->series) {
      const bool is_known = std::ranges::any_of(
          values, [&](const Described& each) { return each.word == series.name; });
      if (!is_known) values.push_back({std::string(series.name), std::string(series.summary)});
    }
  }
  return values;
}

/// Returns the completions of a flag's value. `option`: text before the value in the same word,
/// such as "--series=", or empty. A comma list is completed by the values that the list lacks.
std::string complete_value(const Flag& flag, std::string_view option, std::string_view typed,
                           const Completed& known) {
  Candidates candidates(typed);
  if (flag.kind == ValueKind::file) return candidates.text("files");
  const bool is_list = flag.kind == ValueKind::choices || flag.kind == ValueKind::devices ||
                       flag.kind == ValueKind::series;
  const std::string_view value = typed.substr(option.size());
  const std::size_t end =
      is_list ? value.rfind(',') + 1 : 0;  // 0 without a comma, since npos + 1 is 0
  const std::string_view before = value.substr(0, end);
  const std::vector<std::string_view> there = split_list(before);
  for (const Described& each : values_of(flag, known)) {
    if (is_list && contains(there, each.word)) continue;
    candidates.add(fmt::format("{}{}{}", option, before, each.word), each.description);
  }
  return candidates.text(is_list ? "list" : "words");
}

std::string complete_flag(const Context& context, std::string_view typed) {
  Candidates candidates(typed);
  const auto add = [&](const Flag& flag) {
    candidates.add(fmt::format("--{}", flag.name), flag.summary);
    if (flag.short_name != '\0') {
      candidates.add(fmt::format("-{}", std::string(1, flag.short_name)), flag.summary);
    }
  };
  if (context.measures() && context.own) {
    for (const Flag& flag : context.own->flags) add(flag);
  }
  Command command = context.command == nullptr ? Command::measure : context.command->command;
  if (context.is_live) command = Command::live;
  for (const Flag& flag : visible_flags()) {
    const bool is_alone = flag.commands == bit(Command::generate) && command == Command::measure;
    if ((flag.commands & bit(command)) != 0 || is_alone) add(flag);
  }
  return candidates.text("words");
}

std::string complete_word(const Context& context, std::string_view typed, const Completed& known) {
  Candidates candidates(typed);
  const auto add_commands = [&] {
    for (const CommandRow& row : all_commands()) {
      if (is_one_word(row)) candidates.add(row.word, row.summary);
    }
  };
  const auto add_probes = [&] {
    for (const Probe* const probe : known.probes) candidates.add(probe->id, probe->question);
  };
  if (context.measures()) {
    if (context.command == nullptr && context.probes.empty()) add_commands();
    add_probes();
    return candidates.text("words");
  }
  switch (context.command->command) {
    case Command::report:
      if (!context.is_first) add_probes();
      return candidates.text("files");
    case Command::explain:
      add_probes();
      for (const std::string_view term : known.terms) candidates.add(term, "");
      return candidates.text("words");
    case Command::help:
      add_commands();
      add_probes();
      return candidates.text("words");
    case Command::list:
    case Command::version:
      return candidates.text("words");
    default:
      return candidates.text("files");
  }
}

}  // namespace

std::string complete(std::span<const std::string> words, const Completed& known) {
  if (words.empty()) return Candidates("").text("words");
  const std::string_view typed = words.back();
  const Context context = read_context(words.first(words.size() - 1), known.probes);
  if (context.is_of_program) return Candidates(typed).text("files");
  if (context.pending != nullptr) return complete_value(*context.pending, "", typed, known);
  const std::size_t equals = typed.starts_with("--") ? typed.find('=') : std::string_view::npos;
  if (equals != std::string_view::npos) {
    const Flag* const flag = flag_of(typed, context);
    if (!takes_value(flag)) return Candidates(typed).text("words");
    return complete_value(*flag, typed.substr(0, equals + 1), typed, known);
  }
  return typed.starts_with('-') ? complete_flag(context, typed)
                                : complete_word(context, typed, known);
}

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return std::string(bash_script);
  if (shell == "zsh") return std::string(zsh_script);
  if (shell == "fish") return std::string(fish_script);
  throw std::invalid_argument(fmt::format("no completion for the shell {}", shell));
}

}  // namespace clprobe::cli
