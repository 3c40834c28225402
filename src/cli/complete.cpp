// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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

Words command_words() {
  Words words;
  for (const CommandRow& row : all_commands()) {
    if (!row.word.empty()) words.push_back(row.word);
  }
  return words;
}

/// What bash offers after a flag; nothing after one whose value it cannot know.
std::string bash_offer(const Flag& flag) {
  if (flag.kind == ValueKind::file) return "_clprobe_files \"$word\"";
  const Words choices(flag.choices.begin(), flag.choices.end());
  return fmt::format("_clprobe_offer '{}' \"$word\"", join(choices, " "));
}

// Words are split at "=" by bash, so that "--flag=word" arrives as three.
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
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' each
  COMPREPLY=()
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  case $before in
{cases}  esac
  for each in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $each in
    {command_cases}) command=$each ;;
    esac
  done
  if [[ $word == -* ]]; then
    _clprobe_offer '{flags}' "$word"
  elif [[ $command == report || $command == compare || $command == import ]]; then
    _clprobe_files "$word"
  elif [[ $command == explain ]]; then
    _clprobe_offer '{probes}' "$word"
  elif [[ $command == '' ]]; then
    _clprobe_offer '{commands} {probes}' "$word"
  fi
}}
complete -F _clprobe clprobe
)";

std::string bash_completion(const Words& probes) {
  std::string cases;
  std::string unknown_values;
  std::string names;
  for (const Flag& flag : visible_flags()) {
    std::string pattern = fmt::format("--{}", flag.name);
    names += fmt::format("{}--{}", names.empty() ? "" : " ", flag.name);
    if (flag.short_name != '\0') {
      const std::string letter(1, flag.short_name);
      pattern += fmt::format("|-{}", letter);
      names += fmt::format(" -{}", letter);
    }
    if (flag.kind == ValueKind::none) continue;
    if (flag.kind == ValueKind::text) {
      unknown_values += fmt::format("{}{}", unknown_values.empty() ? "" : "|", pattern);
    } else {
      cases += fmt::format("  {})\n    {}\n    return\n    ;;\n", pattern, bash_offer(flag));
    }
  }
  cases += fmt::format("  {})\n    return\n    ;;\n", unknown_values);
  return fmt::format(bash_template, fmt::arg("cases", cases), fmt::arg("flags", names),
                     fmt::arg("command_cases", join(command_words(), "|")),
                     fmt::arg("commands", join(command_words(), " ")),
                     fmt::arg("probes", join(probes, " ")));
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

std::string zsh_completion(const Words& probes) {
  std::string specs;
  for (const Flag& flag : visible_flags()) {
    const std::string summary = escape(flag.summary, "[]:\\");
    const std::string action = zsh_action(flag);
    const std::string repeat = flag.is_repeatable ? "*" : "";
    const std::string equals = action.empty() ? "" : "=";
    specs += zsh_spec(fmt::format("{}--{}{}[{}]{}", repeat, flag.name, equals, summary, action));
    if (flag.short_name == '\0') continue;
    const std::string letter(1, flag.short_name);
    specs += zsh_spec(fmt::format("{}-{}[{}]{}", repeat, letter, summary, action));
  }
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
  _arguments -s \
{3}    '*:word:_clprobe_words'
}}
if [[ ${{funcstack[1]}} == _clprobe ]]; then
  _clprobe "$@"
else
  compdef _clprobe clprobe
fi
)",
                     join(command_words(), "|"), join(probes, " "), join(command_words(), " "),
                     specs);
}

std::string fish_completion(const Words& probes) {
  std::string lines =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Made by clprobe --generate fish from the table of flags.\n"
      "complete -c clprobe -f\n";
  const std::string commands = join(command_words(), " ");
  for (const CommandRow& row : all_commands()) {
    if (row.word.empty()) continue;
    lines +=
        fmt::format("complete -c clprobe -n 'not __fish_seen_subcommand_from {}' -a {} -d '{}'\n",
                    commands, row.word, escape(row.summary, "'\\"));
  }
  if (!probes.empty()) {
    lines += fmt::format(
        "complete -c clprobe -n 'not __fish_seen_subcommand_from list report compare import' -a "
        "'{}'\n",
        join(probes, " "));
  }
  lines += "complete -c clprobe -n '__fish_seen_subcommand_from report compare import' -F\n";
  for (const Flag& flag : visible_flags()) {
    lines += fmt::format("complete -c clprobe -l {}", flag.name);
    if (flag.short_name != '\0') lines += fmt::format(" -s {}", std::string(1, flag.short_name));
    if (flag.kind == ValueKind::file) lines += " -r -F";
    if (flag.kind == ValueKind::text) lines += " -x";
    if (!flag.choices.empty()) {
      lines += fmt::format(" -x -a '{}'", join({flag.choices.begin(), flag.choices.end()}, " "));
    }
    lines += fmt::format(" -d '{}'\n", escape(flag.summary, "'\\"));
  }
  return lines;
}

}  // namespace

std::string completion(std::string_view shell, const std::vector<std::string_view>& probes) {
  if (shell == "bash") return bash_completion(probes);
  if (shell == "zsh") return zsh_completion(probes);
  if (shell == "fish") return fish_completion(probes);
  throw std::invalid_argument(fmt::format("no completion for the shell {}", shell));
}

}  // namespace clprobe::cli
