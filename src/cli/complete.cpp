// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "cli/flags.hpp"

namespace clprobe::cli {
namespace {

using Words = std::vector<std::string_view>;

std::string join(const Words& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

/// `text` with a backslash before each of `special`.
std::string escape(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char letter : text) {
    if (special.find(letter) != std::string_view::npos) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

Words ids_of(std::span<const Probe* const> probes) {
  Words ids;
  for (const Probe* const probe : probes) ids.push_back(probe->id);
  return ids;
}

Words command_words() {
  Words words;
  for (const CommandRow& row : all_commands()) {
    if (is_one_word(row)) words.push_back(row.word);
  }
  return words;
}

/// What bash offers after a flag; nothing after one whose value it cannot know.
std::string bash_offer(const Flag& flag) {
  if (flag.kind == ValueKind::file) return "_clprobe_files \"$word\"";
  const Words choices(flag.choices.begin(), flag.choices.end());
  return fmt::format("_clprobe_offer '{}' \"$word\"", join(choices, " "));
}

// Words are split at "=" by bash, so that "--flag=word" arrives as three. A value is offered by the
// option and the probe that it follows.
constexpr std::string_view bash_template = R"(# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate bash from the table of flags.
_clprobe_offer() {{
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}}
_clprobe_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}}
_clprobe() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local command='' probe='' own='' each
  COMPREPLY=()
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for each in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $each in
    {command_cases}) command=$each ;;
    --live) [[ $command != compare ]] || command='compare --live' ;;
    {probe_cases}) probe=$each ;;
    esac
  done
  case $probe$before in
{own_cases}  esac
  case $before in
{cases}  esac
  case $probe in
{own_names}  esac
  case $command in
{command_flags}  esac
  if [[ $word == -* ]]; then
    _clprobe_offer "$own" "$word"
  elif [[ $command == report || $command == compare || $command == import ]]; then
    _clprobe_files "$word"
  elif [[ $command == explain ]]; then
    _clprobe_offer '{probes}' "$word"
  elif [[ $command == '' && $probe == '' ]]; then
    _clprobe_offer '{commands} {probes}' "$word"
  elif [[ $command == '' || $command == 'compare --live' ]]; then
    _clprobe_offer '{probes}' "$word"
  fi
}}
complete -F _clprobe clprobe
)";

/// A flag's cases: what is offered behind it. Those whose value nobody knows are collected.
void add_bash_case(const Flag& flag, std::string_view probe, std::string& cases,
                   std::string& unknown_values) {
  std::string pattern = fmt::format("{}--{}", probe, flag.name);
  if (flag.short_name != '\0') pattern += fmt::format("|-{}", std::string(1, flag.short_name));
  if (flag.kind == ValueKind::none) return;
  if (flag.kind == ValueKind::text) {
    unknown_values += fmt::format("{}{}", unknown_values.empty() ? "" : "|", pattern);
  } else {
    cases += fmt::format("  {})\n    {}\n    return\n    ;;\n", pattern, bash_offer(flag));
  }
}

/// The flags that each command knows, added to those of the probe.
std::string bash_command_flags() {
  std::string cases;
  for (const CommandRow& row : all_commands()) {
    std::string names;
    for (const Flag& flag : visible_flags()) {
      const bool is_of_no_command = flag.commands == bit(Command::generate) && row.word.empty();
      if ((flag.commands & bit(row.command)) == 0 && !is_of_no_command) continue;
      names += fmt::format(" --{}", flag.name);
      if (flag.short_name != '\0') names += fmt::format(" -{}", std::string(1, flag.short_name));
    }
    cases += fmt::format("  '{}') own+='{}' ;;\n", row.word, names);
  }
  return cases;
}

std::string end_of_cases(const std::string& unknown_values) {
  if (unknown_values.empty()) return {};
  return fmt::format("  {})\n    return\n    ;;\n", unknown_values);
}

std::string bash_completion(std::span<const Probe* const> probes) {
  std::string cases;
  std::string unknown_values;
  for (const Flag& flag : visible_flags()) {
    add_bash_case(flag, "", cases, unknown_values);
  }
  cases += end_of_cases(unknown_values);
  std::string own_cases;
  std::string own_names;
  std::string own_unknown;
  for (const Probe* const probe : probes) {
    const ProbeFlags own(*probe);
    std::string own_flags;
    for (const Flag& flag : own.flags) {
      own_flags += fmt::format("{}--{}", own_flags.empty() ? "" : " ", flag.name);
      add_bash_case(flag, probe->id, own_cases, own_unknown);
    }
    own_names += fmt::format("  {}) own='{}' ;;\n", probe->id, own_flags);
  }
  own_cases += end_of_cases(own_unknown);
  const Words ids = ids_of(probes);
  return fmt::format(
      bash_template, fmt::arg("cases", cases), fmt::arg("command_flags", bash_command_flags()),
      fmt::arg("own_cases", own_cases), fmt::arg("own_names", own_names),
      fmt::arg("command_cases", join(command_words(), "|")),
      fmt::arg("probe_cases", ids.empty() ? "''" : join(ids, "|")),
      fmt::arg("commands", join(command_words(), " ")), fmt::arg("probes", join(ids, " ")));
}

std::string zsh_action(const Flag& flag) {
  if (flag.kind == ValueKind::none) return "";
  const std::string name(flag.value_name);
  if (flag.kind == ValueKind::file) return fmt::format(":{}:_files", name);
  const Words choices(flag.choices.begin(), flag.choices.end());
  if (flag.kind == ValueKind::choices) {
    return fmt::format(":{}:_sequence compadd - {}", name, join(choices, " "));
  }
  if (flag.kind == ValueKind::choice) return fmt::format(":{}:({})", name, join(choices, " "));
  return fmt::format(":{}: ", name);
}

/// One argument of _arguments, between single quotes, which only another one ends.
std::string zsh_spec(std::string_view text) {
  std::string quoted;
  for (const char letter : text) {
    if (letter == '\'') quoted += "'\\'";
    quoted += letter;
  }
  return fmt::format("    '{}' \\\n", quoted);
}

std::string zsh_specs(std::span<const Flag> flags) {
  std::string specs;
  for (const Flag& flag : flags) {
    const std::string summary = escape(flag.summary, "[]:\\");
    const std::string action = zsh_action(flag);
    const std::string repeat = flag.is_repeatable ? "*" : "";
    const std::string equals = action.empty() ? "" : "=";
    specs += zsh_spec(fmt::format("{}--{}{}[{}]{}", repeat, flag.name, equals, summary, action));
    if (flag.short_name == '\0') continue;
    const std::string letter(1, flag.short_name);
    specs += zsh_spec(fmt::format("{}-{}[{}]{}", repeat, letter, summary, action));
  }
  return specs;
}

std::string zsh_completion(std::span<const Probe* const> probes) {
  const Words ids = ids_of(probes);
  std::string own;
  for (const Probe* const probe : probes) {
    const ProbeFlags flags(*probe);
    if (flags.flags.empty()) continue;
    own += fmt::format("    {}) own=(\n{}    ) ;;\n", probe->id, zsh_specs(flags.flags));
  }
  // A probe's option hides a command's flag of the same name.
  std::vector<Flag> others = visible_flags();
  std::erase_if(others, [&](const Flag& flag) {
    return std::any_of(probes.begin(), probes.end(), [&](const Probe* probe) {
      return ProbeFlags(*probe).find(flag.name) != nullptr;
    });
  });
  return fmt::format(R"(#compdef clprobe
# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate zsh from the table of flags.
_clprobe_words() {{
  case ${{words[(r)({0})]}} in
    report|compare|import) _files ;;
    explain) compadd - {1} ;;
    list) ;;
    *) compadd - {2} {1} ;;
  esac
}}
_clprobe() {{
  local -a own
  # Options follow their probe: those of the last one before the cursor.
  case ${{${{words[1,CURRENT-1]}}[(R)({5})]}} in
{4}  esac
  _arguments -s \
    $own \
{3}    '*:word:_clprobe_words'
}}
if [[ ${{funcstack[1]}} == _clprobe ]]; then
  _clprobe "$@"
else
  compdef _clprobe clprobe
fi
)",
                     join(command_words(), "|"), join(ids, " "), join(command_words(), " "),
                     zsh_specs(others), own, join(ids, "|"));
}

std::string fish_line(const Flag& flag, std::string_view condition) {
  std::string line = fmt::format("complete -c clprobe{} -l {}", condition, flag.name);
  if (flag.short_name != '\0') line += fmt::format(" -s {}", std::string(1, flag.short_name));
  if (flag.kind == ValueKind::file) line += " -r -F";
  if (flag.kind == ValueKind::text) line += " -x";
  if (!flag.choices.empty()) {
    line += fmt::format(" -x -a '{}'", join({flag.choices.begin(), flag.choices.end()}, " "));
  }
  return line + fmt::format(" -d '{}'\n", escape(flag.summary, "'\\"));
}

std::string fish_completion(std::span<const Probe* const> probes) {
  std::string lines =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Made by clprobe --generate fish from the table of flags.\n"
      "complete -c clprobe -f\n";
  const std::string commands = join(command_words(), " ");
  for (const CommandRow& row : all_commands()) {
    if (!is_one_word(row)) continue;
    lines +=
        fmt::format("complete -c clprobe -n 'not __fish_seen_subcommand_from {}' -a {} -d '{}'\n",
                    commands, row.word, escape(row.summary, "'\\"));
  }
  if (!probes.empty()) {
    lines += fmt::format(
        "complete -c clprobe -n 'not __fish_seen_subcommand_from list report compare import' -a "
        "'{}'\n",
        join(ids_of(probes), " "));
  }
  lines += "complete -c clprobe -n '__fish_seen_subcommand_from report compare import' -F\n";
  for (const Flag& flag : visible_flags()) lines += fish_line(flag, "");
  for (const Probe* const probe : probes) {
    const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", probe->id);
    for (const Flag& flag : ProbeFlags(*probe).flags) lines += fish_line(flag, condition);
  }
  return lines;
}

}  // namespace

std::string completion(std::string_view shell, std::span<const Probe* const> probes) {
  if (shell == "bash") return bash_completion(probes);
  if (shell == "zsh") return zsh_completion(probes);
  if (shell == "fish") return fish_completion(probes);
  throw std::invalid_argument(fmt::format("no completion for the shell {}", shell));
}

}  // namespace clprobe::cli
