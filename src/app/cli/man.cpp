// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags.hpp"

namespace clprobe::cli {
namespace {

struct Named {
  std::string_view name;
  std::string_view text;
};

constexpr std::array environment{
    Named{"NO_COLOR", "Any value disables colours, unless `--color always` is given."},
    Named{"CLICOLOR_FORCE", "Any value except 0 enables colours, even if stdout is a pipe."},
    Named{"TERM", "On a `dumb` terminal there are neither colours nor progress."},
    Named{"COLUMNS", "Width of tables if stdout is not a terminal, 1 to 1000; default 80."},
    Named{"LC_ALL, LC_CTYPE, LANG", "Charts are drawn in ASCII if the locale is not UTF-8."},
    Named{"PAGER", "Program that shows the pages of `explain` on a terminal; default `less`."},
    Named{"OCL_ICD_VENDORS",
          "Selects the OpenCL drivers that the loader offers; see the loader's documentation."},
    Named{
        "OPENCL_LAYERS",
        "Your own OpenCL layers for the program of `profile`; clprobe's layer is put before them."},
};

constexpr std::array examples{
    Named{"clprobe", "Measure everything on the best device."},
    Named{"clprobe --device all -o run.json latency",
          "Measure one probe on all devices, and keep the samples."},
    Named{"clprobe latency --sizes '16KiB-1GiB*1.2' --series global stride --grid 2^20",
          "Measure two probes, each with its own options."},
    Named{"clprobe compare --live --b-env OCL_ICD_VENDORS=/opt/new latency",
          "Measure under two drivers alternately, and report the differences."},
    Named{"clprobe profile --list -- ./app --its-own options",
          "List the kernels of an OpenCL program by device time."},
    Named{"clprobe profile --keep captured -- ./app --its-own options",
          "Capture and replay the important kernels, and keep the captured launches."},
    Named{"clprobe report -f markdown old.json new.json",
          "Show two saved runs side by side, to paste into an issue."},
};

/// Text as roff: what it would read as a command is escaped, and `code` is bold.
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
      // A bare one is a hyphen, which cannot be copied into a shell.
      escaped += "\\-";
    } else if (letter == '\'') {
      escaped += "\\(aq";
    } else if (letter == ' ' && escaped.ends_with('.') && !escaped.ends_with("...")) {
      // A sentence begins a line, so that roff sets its own space after the full stop.
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
         "shown on stderr if that is a terminal.\n" +
         commands;
}

}  // namespace

std::string man_page(std::span<const Probe* const> probes) {
  // The date is of the last change to this text, so that the same build gives the same page.
  std::string page =
      ".\\\" SPDX-License-Identifier: Apache-2.0\n"
      ".\\\" Made by clprobe --generate man from the table of flags.\n"
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
