// SPDX-License-Identifier: Apache-2.0
#include "cli/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace clprobe::cli {
namespace complete {

std::string join(const Words& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

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

std::vector<Flag> flags_of_command(const CommandRow& row) {
  std::vector<Flag> flags;
  for (const Flag& flag : visible_flags()) {
    const bool is_of_no_command = flag.commands == bit(Command::generate) && row.word.empty();
    if ((flag.commands & bit(row.command)) != 0 || is_of_no_command) flags.push_back(flag);
  }
  return flags;
}

Words choices_of(const Flag& flag, const Offered& offered) {
  Words choices(flag.choices.begin(), flag.choices.end());
  if (flag.kind == ValueKind::devices) {
    choices = offered.machines;
    choices.insert(choices.begin(), "all");
  }
  if (flag.kind == ValueKind::series) {
    for (const Probe* const probe : offered.probes) {
      for (const Series& series : probe->series) {
        if (std::find(choices.begin(), choices.end(), series.name) == choices.end()) {
          choices.push_back(series.name);
        }
      }
    }
  }
  return choices;
}

bool is_list(const Flag& flag) {
  return flag.kind == ValueKind::choices || flag.kind == ValueKind::devices ||
         flag.kind == ValueKind::series;
}

}  // namespace complete

std::string completion(std::string_view shell, std::span<const Probe* const> probes,
                       std::span<const std::string_view> machines,
                       std::span<const std::string_view> terms) {
  const complete::Offered offered{
      probes, {machines.begin(), machines.end()}, {terms.begin(), terms.end()}};
  if (shell == "bash") return complete::bash(offered);
  if (shell == "zsh") return complete::zsh(offered);
  if (shell == "fish") return complete::fish(offered);
  throw std::invalid_argument(fmt::format("no completion for the shell {}", shell));
}

}  // namespace clprobe::cli
