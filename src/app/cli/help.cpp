// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags.hpp"
#include "text/api/text.hpp"

namespace clprobe::cli {
namespace {

constexpr std::size_t page_columns = 80;

// Columns at which texts begin. A flag, usage or probe that reaches this column has a line of its
// own.
constexpr std::size_t flag_text_column = 28;
constexpr std::size_t usage_text_column = 40;
constexpr std::size_t probe_text_column = 14;
constexpr std::size_t exit_text_column = 7;

/// Returns lines with `left` in the first column and `text` from column `text_column` on, wrapped
/// to the width of the page.
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

/// Returns text wrapped to the width of the page, indented by two columns.
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
    // The help of `compare` also describes `compare --live`.
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
  if (!options.empty()) text += fmt::format("\nOptions for {}:\n{}", command, options);
  return text;
}

std::string probe_help(const Probe& probe) {
  std::string text = fmt::format("{}\n{}\n\nUsage:\n  clprobe [options] {} [{} options]\n",
                                 probe.title, probe.question, probe.id, probe.id);
  const ProbeFlags own(probe);
  if (!own.flags.empty()) text += fmt::format("\nOptions for {}:\n", probe.id);
  for (const Flag& flag : own.flags) text += flag_entry(flag);
  return text + fmt::format(
                    "\n`clprobe explain {}` describes the probe; `clprobe --help` lists "
                    "the\noptions that all probes share.\n",
                    probe.id);
}

namespace {

struct Named {
  std::string_view name;
  std::string_view text;
};

constexpr std::array environment{
    Named{"NO_COLOR", "Any non-empty value disables colours, unless `--color always` is given."},
    Named{"CLICOLOR_FORCE", "Any value except 0 enables colours, even if stdout is a pipe."},
    Named{"TERM", "If the value is `dumb`, clprobe shows no colours and no progress."},
    Named{"COLUMNS",
          "Width of tables, 1 to 1000 columns, if stdout is not a terminal; default 80."},
    Named{"LC_ALL, LC_CTYPE, LANG", "Charts are drawn in ASCII if the locale is not UTF-8."},
    Named{"PAGER", "Program that shows the pages of `explain` on a terminal; default `less`."},
    Named{"OCL_ICD_VENDORS",
          "Selects the OpenCL drivers that the loader offers; see the loader's documentation."},
    Named{"OPENCL_LAYERS",
          "Your own OpenCL layers for a profiled program; clprobe adds its layer at the front of "
          "this list."},
};

constexpr std::array examples{
    Named{"clprobe", "Run all probes on the best device."},
    Named{"clprobe --device all -o run.json latency",
          "Run one probe on all devices, and save the samples."},
    Named{"clprobe latency --sizes '16KiB-1GiB*1.2' --series global stride --grid 2^20",
          "Run two probes, each with its own options."},
    Named{"clprobe compare --live --b-env OCL_ICD_VENDORS=/opt/new latency",
          "Measure a device under two drivers alternately, and report the differences."},
    Named{"clprobe profile --list -- ./app --its-own options",
          "List the kernels of an OpenCL program by device time."},
    Named{"clprobe profile --keep captured -- ./app --its-own options",
          "Capture and replay the important kernels, and keep the captured launches."},
    Named{"clprobe report -f markdown old.json new.json",
          "Print two saved runs side by side as Markdown, to paste into a bug report."},
};

/// Returns text as roff, the language of man pages: characters with a meaning in roff are escaped,
/// and `code` is bold.
std::string roff(std::string_view text) {
  std::string escaped;
  bool is_code = false;
  for (const char letter : text) {
    if (letter == '`') {
      is_code = !is_code;
      escaped += is_code ? "\\fB" : "\\fR";
    } else if (letter == '\\') {
      escaped += "\\e";
    } else if (letter == '-') {
      // roff shows a dash without a backslash as a hyphen character, and a flag with a hyphen fails
      // when pasted into a shell.
      escaped += "\\-";
    } else if (letter == '\'') {
      escaped += "\\(aq";
    } else if (letter == ' ' && escaped.ends_with('.') && !escaped.ends_with("...")) {
      // Each sentence begins on a new line, so that roff chooses the space between sentences.
      escaped += '\n';
    } else {
      escaped += letter;
    }
  }
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string flag_paragraph(const Flag& flag) {
  std::string name;
  if (flag.short_name != '\0') {
    name = fmt::format(R"(\fB\-{}\fR, )", std::string(1, flag.short_name));
  }
  name += fmt::format(R"(\fB\-\-{}\fR)", roff(flag.name));
  if (!flag.value_name.empty()) name += fmt::format(" \\fI{}\\fR", flag.value_name);
  std::string text = roff(flag.details);
  if (!flag.choices.empty()) {
    text += fmt::format("\n{} is {}.", flag.value_name, roff(join_choices(flag.choices)));
  }
  if (flag.is_repeatable) text += "\nMay be repeated.";
  return fmt::format(".TP\n{}\n{}\n", name, text);
}

template <std::size_t size>
std::string named_paragraphs(const std::array<Named, size>& rows) {
  std::string text;
  for (const Named& row : rows) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(row.name), roff(row.text));
  }
  return text;
}

std::string synopsis_and_commands() {
  std::string synopsis = ".SH SYNOPSIS\n";
  std::string commands = ".SH COMMANDS\n";
  for (const CommandRow& row : all_commands()) {
    const std::string_view break_line = row.word.empty() ? "" : ".br\n";
    const std::string words =
        row.word.empty() ? "[\\fIoptions\\fR]" : fmt::format("\\fB{}\\fR", roff(row.word));
    const std::string arguments =
        row.arguments.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(row.arguments));
    synopsis += fmt::format("{}\\fBclprobe\\fR {}{}\n", break_line, words, arguments);
    const std::string name = row.word.empty() ? arguments.substr(1) : words + arguments;
    commands += fmt::format(".TP\n{}\n{}\n", name, roff(row.details));
  }
  return synopsis +
         ".SH DESCRIPTION\n\\fBclprobe\\fR measures the memory system of a GPU, CPU or other "
         "OpenCL device: the latency, bandwidth and capacity of each level, and more.\nEvery "
         "result has an interval or a bound.\n.PP\nResults are written to stdout. Progress is "
         "shown on stderr if stderr is a terminal.\n" +
         commands;
}

}  // namespace

std::string man_page(std::span<const Probe* const> probes) {
  // The page has a fixed date, so that equal builds produce equal pages.
  std::string page =
      ".\\\" SPDX-License-Identifier: Apache-2.0\n"
      ".\\\" Generated by clprobe --generate man from the table of flags.\n"
      ".TH CLPROBE 1 \"2026-11-25\" \"clprobe\" \"User Commands\"\n"
      ".SH NAME\n"
      "clprobe \\- measure memory systems through OpenCL\n";
  page += synopsis_and_commands();
  page += ".SH OPTIONS\n";
  for (const Category category : visible_categories) {
    page += fmt::format(".SS {}\n", title_of(category));
    for (const Flag& flag : all_flags()) {
      if (flag.category == category) page += flag_paragraph(flag);
    }
  }
  page += ".SH PROBES\n";
  for (const Probe* const probe : probes) {
    page += fmt::format(".SS {}\n{}\n", roff(probe->id), roff(probe->question));
    for (const Flag& flag : ProbeFlags(*probe).flags) page += flag_paragraph(flag);
  }
  page += ".SH EXIT STATUS\n";
  for (const ExitRow& row : exit_rows) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", static_cast<int>(row.code), roff(row.details));
  }
  page += ".SH ENVIRONMENT\n" + named_paragraphs(environment);
  page += ".SH EXAMPLES\n" + named_paragraphs(examples);
  return page + ".SH SEE ALSO\n.BR clinfo (1)\n";
}

}  // namespace clprobe::cli
