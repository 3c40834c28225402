// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/complete.hpp"

namespace clprobe::cli::complete {
namespace {

std::string zsh_action(const Flag& flag, const Offered& offered) {
  if (flag.kind == ValueKind::none) return "";
  const std::string name(flag.value_name);
  if (flag.kind == ValueKind::file) return fmt::format(":{}:_files", name);
  if (flag.kind == ValueKind::devices) return fmt::format(":{}:_clprobe_devices", name);
  const std::string choices = join(choices_of(flag, offered), " ");
  if (is_list(flag)) return fmt::format(":{}:_sequence compadd - {}", name, choices);
  if (flag.kind == ValueKind::choice) return fmt::format(":{}:({})", name, choices);
  return fmt::format(":{}: ", name);
}

/// One argument of _arguments, between single quotes, which only another one ends.
std::string zsh_spec(std::string_view text) {
  std::string quoted;
  for (const char letter : text) {
    if (letter == '\'') quoted += "'\\'";
    quoted += letter;
  }
  return fmt::format("      '{}'\n", quoted);
}

std::string zsh_specs(std::span<const Flag> flags, const Offered& offered) {
  std::string specs;
  for (const Flag& flag : flags) {
    const std::string summary = escape(flag.summary, "[]:\\");
    const std::string action = zsh_action(flag, offered);
    const std::string repeat = flag.is_repeatable ? "*" : "";
    const std::string equals = action.empty() ? "" : "=";
    specs += zsh_spec(fmt::format("{}--{}{}[{}]{}", repeat, flag.name, equals, summary, action));
    if (flag.short_name == '\0') continue;
    const std::string letter(1, flag.short_name);
    specs += zsh_spec(fmt::format("{}-{}[{}]{}", repeat, letter, summary, action));
  }
  return specs;
}

/// 'working set' step
std::string zsh_terms(const Words& terms) {
  std::string quoted;
  for (const std::string_view term : terms) {
    const std::string_view quote = term.find(' ') == std::string_view::npos ? "" : "'";
    quoted += fmt::format("{}{}{}{}", quoted.empty() ? "" : " ", quote, term, quote);
  }
  return quoted;
}

constexpr std::string_view zsh_template = R"zsh(#compdef clprobe
# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate zsh from the table of flags.
_clprobe_devices() {{
  local -a devices
  devices=({devices}
    ${{(f)"$(timeout 3 ${{words[1]}} list </dev/null 2>/dev/null |
      sed -n 's/^\([0-9][0-9]*\)  .*/\1/p')"}})
  _sequence compadd - $devices
}}
_clprobe_words() {{
  case $command in
    report) [[ ${{words[CURRENT-1]}} == report ]] || compadd - {probes}
      _files ;;
    compare|import|profile) _files ;;
    # A term may have several words; explain takes them unquoted.
    explain) compadd -Q - {probes} {terms} ;;
    help) compadd - {commands} {probes} ;;
    list|version) ;;
    '') [[ -n $probe ]] || compadd - {commands}
      compadd - {probes} ;;
    *) compadd - {probes} ;;
  esac
}}
_clprobe() {{
  local -a own
  local -a before=(${{words[2,CURRENT-1]}})
  # Options follow their probe: those of the last one before the cursor.
  local probe=${{before[(R)({probe_cases})]}}
  local command=${{before[(r)({command_cases})]}}
  [[ $command != compare || -z ${{before[(r)--live]}} ]] || command='compare --live'
  case $command in
{command_flags}  esac
  if [[ -z $command || $command == 'compare --live' ]]; then
    case $probe in
{own}    esac
  fi
  _arguments -s $own '*:word:_clprobe_words'
}}
if [[ ${{funcstack[1]}} == _clprobe ]]; then
  _clprobe "$@"
else
  compdef _clprobe clprobe
fi
)zsh";

}  // namespace

std::string zsh(const Offered& offered) {
  const Words ids = ids_of(offered.probes);
  std::string own;
  for (const Probe* const probe : offered.probes) {
    const ProbeFlags flags(*probe);
    if (flags.flags.empty()) continue;
    own += fmt::format("    {}) own+=(\n{}    ) ;;\n", probe->id, zsh_specs(flags.flags, offered));
  }
  std::string command_flags;
  for (const CommandRow& row : all_commands()) {
    command_flags += fmt::format("    '{}') own=(\n{}    ) ;;\n", row.word,
                                 zsh_specs(flags_of_command(row), offered));
  }
  const Flag devices{.kind = ValueKind::devices};
  return fmt::format(
      zsh_template, fmt::arg("devices", join(choices_of(devices, offered), " ")),
      fmt::arg("probes", join(ids, " ")), fmt::arg("terms", zsh_terms(offered.terms)),
      fmt::arg("commands", join(command_words(), " ")), fmt::arg("probe_cases", join(ids, "|")),
      fmt::arg("command_cases", join(command_words(), "|")),
      fmt::arg("command_flags", command_flags), fmt::arg("own", own));
}

}  // namespace clprobe::cli::complete
