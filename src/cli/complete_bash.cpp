// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/complete.hpp"

namespace clprobe::cli::complete {
namespace {

/// What bash offers behind a flag.
std::string bash_offer(const Flag& flag, const Offered& offered) {
  if (flag.kind == ValueKind::file) return "_clprobe_files \"$word\"";
  const std::string words = join(choices_of(flag, offered), " ");
  if (flag.kind == ValueKind::devices) {
    return fmt::format("_clprobe_list \"{} $(_clprobe_devices)\" \"$word\"", words);
  }
  return fmt::format("{} '{}' \"$word\"", is_list(flag) ? "_clprobe_list" : "_clprobe_offer",
                     words);
}

// Words are split at "=" by bash, so that "--flag=word" arrives as three, and at ":", where only
// what follows is replaced. A value is offered by the option and the command or probe that it
// follows.
constexpr std::string_view bash_template = R"bash(# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate bash from the table of flags.
_clprobe_offer() {{
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}}
# Offers the words that a comma list does not contain yet.
_clprobe_list() {{
  local before='' each
  local -a rest=()
  [[ $2 != *,* ]] || before=${{2%,*}},
  for each in $1; do
    [[ ,$before == *",$each,"* ]] || rest+=("$before$each")
  done
  _clprobe_offer "${{rest[*]}}" "$2"
  compopt -o nospace 2>/dev/null
}}
_clprobe_devices() {{
  timeout 3 "${{COMP_WORDS[0]}}" list </dev/null 2>/dev/null | sed -n 's/^\([0-9][0-9]*\)  .*/\1/p'
}}
# A term may have several words; explain takes them unquoted.
_clprobe_explain() {{
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(compgen -W '{explained}' -- "$1")
}}
_clprobe_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -W "$2" -f -- "$1")
}}
_clprobe() {{
  local each
  local -a typed=()
  COMPREPLY=()
  for each in "${{COMP_WORDS[@]:0:COMP_CWORD+1}}"; do
    if [[ ${{#typed[@]}} -gt 0 && ($each == : || ${{typed[-1]}} == *:) ]]; then
      typed[-1]+=$each
    else
      typed+=("$each")
    fi
  done
  _clprobe_reply
  local word=${{typed[-1]}}
  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${{COMPREPLY[@]#"${{word%"${{word##*:}}"}}"}}")
  fi
}}
_clprobe_reply() {{
  local word=${{typed[-1]}} before=${{typed[-2]}}
  local command='' probe='' own='' each
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${{typed[-3]}}
  fi
  for each in "${{typed[@]:1:${{#typed[@]}}-2}}"; do
    case $each in
    {command_cases}) [[ $command != '' || $probe != '' ]] || command=$each ;;
    --live) [[ $command != compare ]] || command='compare --live' ;;
    {probe_cases}) probe=$each ;;
    esac
  done
  if [[ $command == '' || $command == 'compare --live' ]]; then
    case $probe$before in
{own_cases}    esac
    case $probe in
{own_names}    esac
  fi
  case $before in
{cases}  esac
  case $command in
{command_flags}  esac
  if [[ $command == profile && " ${{typed[*]:1:${{#typed[@]}}-2}} " == *' -- '* ]]; then
    _clprobe_files "$word"
    return
  fi
  if [[ $word == -* ]]; then
    _clprobe_offer "$own" "$word"
    return
  fi
  case $command in
  report)
    each='{probes}'
    [[ $before != report ]] || each=''
    _clprobe_files "$word" "$each"
    ;;
  compare | import | profile) _clprobe_files "$word" ;;
  explain) _clprobe_explain "$word" ;;
  help) _clprobe_offer '{commands} {probes}' "$word" ;;
  list | version) ;;
  '')
    each='{probes}'
    [[ $probe != '' ]] || each='{commands} {probes}'
    _clprobe_offer "$each" "$word"
    ;;
  *) _clprobe_offer '{probes}' "$word" ;;
  esac
}}
complete -F _clprobe clprobe
)bash";

/// A flag's cases: what is offered behind it. Those whose value nobody knows are collected.
void add_bash_case(const Flag& flag, std::string_view probe, const Offered& offered,
                   std::string& cases, std::string& unknown_values) {
  std::string pattern = fmt::format("{}--{}", probe, flag.name);
  if (flag.short_name != '\0') pattern += fmt::format("|-{}", std::string(1, flag.short_name));
  if (flag.kind == ValueKind::none) return;
  if (flag.kind == ValueKind::text) {
    unknown_values += fmt::format("{}{}", unknown_values.empty() ? "" : "|", pattern);
  } else {
    cases += fmt::format("  {})\n    {}\n    return\n    ;;\n", pattern, bash_offer(flag, offered));
  }
}

/// The flags that each command knows, added to those of the probe.
std::string bash_command_flags() {
  std::string cases;
  for (const CommandRow& row : all_commands()) {
    std::string names;
    for (const Flag& flag : flags_of_command(row)) {
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

}  // namespace

std::string bash(const Offered& offered) {
  std::string cases;
  std::string unknown_values;
  for (const Flag& flag : visible_flags()) {
    add_bash_case(flag, "", offered, cases, unknown_values);
  }
  cases += end_of_cases(unknown_values);
  std::string own_cases;
  std::string own_names;
  std::string own_unknown;
  for (const Probe* const probe : offered.probes) {
    const ProbeFlags own(*probe);
    std::string own_flags;
    for (const Flag& flag : own.flags) {
      own_flags += fmt::format("{}--{}", own_flags.empty() ? "" : " ", flag.name);
      add_bash_case(flag, probe->id, offered, own_cases, own_unknown);
    }
    own_names += fmt::format("  {}) own='{}' ;;\n", probe->id, own_flags);
  }
  own_cases += end_of_cases(own_unknown);
  const Words ids = ids_of(offered.probes);
  Words explained = ids;
  explained.insert(explained.end(), offered.terms.begin(), offered.terms.end());
  return fmt::format(
      bash_template, fmt::arg("cases", cases), fmt::arg("command_flags", bash_command_flags()),
      fmt::arg("own_cases", own_cases), fmt::arg("own_names", own_names),
      fmt::arg("command_cases", join(command_words(), "|")),
      fmt::arg("probe_cases", ids.empty() ? "''" : join(ids, "|")),
      fmt::arg("commands", join(command_words(), " ")), fmt::arg("probes", join(ids, " ")),
      fmt::arg("explained", join(explained, "\n")));
}

}  // namespace clprobe::cli::complete
