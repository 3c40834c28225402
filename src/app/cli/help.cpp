// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags.hpp"
#include "text/api/text.hpp"

namespace clprobe::cli {
namespace {

constexpr std::size_t page_columns = 80;

// The longest on the left, and two columns between.
constexpr std::size_t flag_text_column = 28;
constexpr std::size_t usage_text_column = 40;
constexpr std::size_t probe_text_column = 14;
constexpr std::size_t exit_text_column = 7;

/// "  left      text", with `text` from `text_column` on, broken between words to fit the page.
std::string entry(std::string_view left, std::string_view text, std::size_t text_column) {
  std::string lines(left);
  std::size_t column = left.size();
  for (const std::string& line : wrap(text, static_cast<int>(page_columns - text_column))) {
    const bool has_room = column < text_column;
    if (!has_room) lines += '\n';
    lines += fmt::format("{:{}}{}", "", text_column - (has_room ? column : 0), line);
    column = page_columns;
  }
  return lines + "\n";
}

/// Text of the man page, two columns from the margin.
std::string paragraph(std::string_view text) {
  constexpr int indent = 2;
  std::string lines;
  for (const std::string& line : wrap(text, static_cast<int>(page_columns) - indent)) {
    lines += fmt::format("{:{}}{}\n", "", indent, line);
  }
  return lines;
}

std::string exit_entries() {
  std::string text;
  for (const ExitRow& row : exit_rows) {
    text += entry(fmt::format("{:>5}", static_cast<int>(row.code)), row.summary, exit_text_column);
  }
  return text;
}

std::string flag_entry(const Flag& flag) {
  std::string left =
      flag.short_name == '\0' ? "      " : fmt::format("  -{}, ", std::string(1, flag.short_name));
  left += fmt::format("--{}", flag.name);
  if (!flag.value_name.empty()) left += fmt::format(" {}", flag.value_name);
  std::string text(flag.summary);
  if (!flag.choices.empty()) text += fmt::format(": {}", join_choices(flag.choices));
  if (flag.is_repeatable) text += " (may be repeated)";
  return entry(left, text, flag_text_column);
}

}  // namespace

std::string help_text(std::span<const Probe* const> probes) {
  std::string text = "clprobe measures the memory system of a device through OpenCL.\n\nUsage:\n";
  for (const CommandRow& row : all_commands()) {
    std::string left =
        row.word.empty() ? "  clprobe [options]" : fmt::format("  clprobe {}", row.word);
    if (!row.arguments.empty()) left += fmt::format(" {}", row.arguments);
    text += entry(left, row.summary, usage_text_column);
  }
  text += "\nProbes (`clprobe PROBE --help` lists their options):\n";
  for (const Probe* const probe : probes) {
    text += entry(fmt::format("  {}", probe->id), probe->question, probe_text_column);
  }
  for (const Category category : visible_categories) {
    text += fmt::format("\n{}:\n", title_of(category));
    for (const Flag& flag : all_flags()) {
      if (flag.category == category) text += flag_entry(flag);
    }
  }
  return text + "\nExit status:\n" + exit_entries() +
         "`clprobe help COMMAND` describes a command; `clprobe --generate man | man -l -`\nshows "
         "the manual.\n";
}

std::string command_help(std::string_view command) {
  std::string text;
  unsigned commands = 0;
  for (const CommandRow& row : all_commands()) {
    // `compare --live` is told of with `compare`.
    const bool is_meant = row.word == command || row.word.starts_with(fmt::format("{} ", command));
    if (command.empty() || !is_meant) continue;
    const std::string_view space = row.arguments.empty() ? "" : " ";
    text +=
        fmt::format("{}clprobe {}{}{}\n", text.empty() ? "" : "\n", row.word, space, row.arguments);
    text += paragraph(row.details);
    commands |= bit(row.command);
  }
  if (text.empty()) throw std::invalid_argument(fmt::format("no command {}", command));
  std::string options;
  for (const Flag& flag : visible_flags()) {
    if ((flag.commands & commands) != 0) options += flag_entry(flag);
  }
  if (!options.empty()) text += fmt::format("\nOptions of {}:\n{}", command, options);
  return text;
}

std::string probe_help(const Probe& probe) {
  std::string text = fmt::format("{}\n{}\n\nUsage:\n  clprobe [options] {} [options of {}]\n",
                                 probe.title, probe.question, probe.id, probe.id);
  const ProbeFlags own(probe);
  if (!own.flags.empty()) text += fmt::format("\nOptions of {}:\n", probe.id);
  for (const Flag& flag : own.flags) text += flag_entry(flag);
  return text + fmt::format(
                    "\n`clprobe explain {}` describes the probe; `clprobe --help` lists "
                    "the\noptions that all probes share.\n",
                    probe.id);
}

}  // namespace clprobe::cli
