// SPDX-License-Identifier: Apache-2.0
#include "commands/results.hpp"

#include <unistd.h>

#include <algorithm>

#include "clprobe/report.hpp"
#include "terminal/terminal.hpp"

namespace clprobe::commands {

namespace {

/// Nothing is measured yet, so that a path which cannot be written is a mistake of the command
/// line.
terminal::OutputFile open_output(const std::string& path) {
  try {
    return terminal::OutputFile(path);
  } catch (const terminal::OutputError& error) {
    throw cli::UsageError(error.what());
  }
}

}  // namespace

Results::Results(const cli::Options& options) : options_(options) {
  for (const cli::Output& output : options.outputs) {
    targets_.push_back({open_output(output.path), output.format});
  }
  const bool has_stdout = std::any_of(options.outputs.begin(), options.outputs.end(),
                                      [](const cli::Output& each) { return each.path == "-"; });
  if (!has_stdout) targets_.push_back({terminal::OutputFile("-"), options.format});
}

std::string Results::render(std::span<const Run> runs, const Target& target) const {
  switch (target.format) {
    case cli::Format::json:
      return to_json(runs);
    case cli::Format::csv:
      return render_csv(runs);
    case cli::Format::markdown:
      return render_markdown(runs);
    case cli::Format::table:
      break;
  }
  return render_table(runs, style_of(target));
}

TableStyle Results::style_of(const Target& target) const {
  TableStyle style;
  style.all_points = options_.verbosity > 0;
  style.advice = options_.verbosity >= 0;
  style.unicode = terminal::has_unicode();
  if (target.file.path() == "-") {
    style.width = terminal::width_columns(STDOUT_FILENO);
    style.colour = terminal::use_colour(options_.colour, STDOUT_FILENO);
  }
  return style;
}

void Results::save(std::span<const Run> runs) {
  for (Target& target : targets_) {
    if (!target.file.is_stream()) target.file.commit(render(runs, target));
  }
}

void Results::finish(std::span<const Run> runs) {
  save(runs);
  for (Target& target : targets_) {
    if (target.file.is_stream()) target.file.commit(render(runs, target));
  }
}

void Results::finish(const Renderer& render) {
  for (Target& target : targets_) target.file.commit(render(target.format, style_of(target)));
}

}  // namespace clprobe::commands
