// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/complete.hpp"

namespace clprobe::cli::complete {
namespace {

constexpr std::string_view fish_template = R"fish(# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate fish from the table of flags.
# The command before the cursor: `measure` where there is none, `live` for `compare --live`.
function __clprobe_command
    set -l words (commandline -opc)
    for word in $words[2..]
        if contains -- $word {commands}
            test $word = compare; and contains -- --live $words; and set word live
            echo $word
            return
        end
    end
    echo measure
end
function __clprobe_of
    contains -- (__clprobe_command) $argv
end
# Options follow their probe: those of the last one before the cursor.
function __clprobe_probe
    set -l last
    set -l words (commandline -opc)
    for word in $words[2..]
        contains -- $word {probes}; and set last $word
    end
    test "$last" = $argv[1]; and __clprobe_of measure live
end
function __clprobe_behind
    set -l words (commandline -opc)
    test "$words[-1]" = $argv[1]
end
function __clprobe_has_probe
    set -l words (commandline -opc)
    for word in $words[2..]
        contains -- $word {probes}; and return 0
    end
    return 1
end
# Offers the arguments that a comma list does not contain yet.
function __clprobe_list
    set -l token (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))
    set -l before (string match -r '^.*,' -- $token)
    set -l there (string split , -- "$before")
    for word in $argv
        contains -- $word $there; or echo "$before$word"
    end
end
function __clprobe_devices
    set -l words (commandline -opc)
    timeout 3 $words[1] list </dev/null 2>/dev/null | string match -rg '^([0-9]+)  '
end
complete -c clprobe -f
)fish";

/// The words of __clprobe_command for which the flag means something.
std::string fish_commands(const Flag& flag) {
  std::string commands;
  for (const CommandRow& row : all_commands()) {
    const bool is_of_no_command = flag.commands == bit(Command::generate) && row.word.empty();
    if ((flag.commands & bit(row.command)) == 0 && !is_of_no_command) continue;
    std::string_view word = row.word;
    if (row.command == Command::measure) word = "measure";
    if (row.command == Command::live) word = "live";
    commands += fmt::format(" {}", word);
  }
  return commands;
}

std::string fish_line(const Flag& flag, const std::string& condition, const Offered& offered) {
  std::string line = fmt::format("complete -c clprobe -n '{}' -l {}", condition, flag.name);
  if (flag.short_name != '\0') line += fmt::format(" -s {}", std::string(1, flag.short_name));
  if (flag.kind == ValueKind::file) line += " -r -F";
  if (flag.kind == ValueKind::text) line += " -x";
  const std::string choices = join(choices_of(flag, offered), " ");
  if (is_list(flag)) {
    const std::string_view found = flag.kind == ValueKind::devices ? " (__clprobe_devices)" : "";
    line += fmt::format(" -x -a '(__clprobe_list {}{})'", choices, found);
  } else if (!choices.empty()) {
    line += fmt::format(" -x -a '{}'", choices);
  }
  return line + fmt::format(" -d '{}'\n", escape(flag.summary, "'\\"));
}

}  // namespace

std::string fish(const Offered& offered) {
  const std::string commands = join(command_words(), " ");
  const std::string probes = join(ids_of(offered.probes), " ");
  std::string lines =
      fmt::format(fish_template, fmt::arg("commands", commands), fmt::arg("probes", probes));
  constexpr std::string_view first = "__clprobe_of measure; and not __clprobe_has_probe";
  for (const CommandRow& row : all_commands()) {
    if (!is_one_word(row)) continue;
    lines += fmt::format("complete -c clprobe -n '{}' -a {} -d '{}'\n", first, row.word,
                         escape(row.summary, "'\\"));
  }
  for (const Probe* const probe : offered.probes) {
    lines += fmt::format(
        "complete -c clprobe -n '__clprobe_of measure live explain help' -a {} -d '{}'\n",
        probe->id, escape(probe->question, "'\\"));
  }
  lines += fmt::format("complete -c clprobe -n '__clprobe_of help' -a '{}'\n", commands);
  for (const std::string_view term : offered.terms) {
    lines += fmt::format("complete -c clprobe -n '__clprobe_of explain' -a '\"{}\"'\n", term);
  }
  lines += "complete -c clprobe -n '__clprobe_of report compare import profile' -F\n";
  lines += fmt::format(
      "complete -c clprobe -n '__clprobe_of report; and not __clprobe_behind report' -a '{}'\n",
      probes);
  for (const Flag& flag : visible_flags()) {
    lines += fish_line(flag, "__clprobe_of" + fish_commands(flag), offered);
  }
  for (const Probe* const probe : offered.probes) {
    const std::string condition = fmt::format("__clprobe_probe {}", probe->id);
    for (const Flag& flag : ProbeFlags(*probe).flags) lines += fish_line(flag, condition, offered);
  }
  return lines;
}

}  // namespace clprobe::cli::complete
