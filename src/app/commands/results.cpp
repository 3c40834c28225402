// SPDX-License-Identifier: Apache-2.0
#include "app/commands/results.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/commands/commands.hpp"
#include "app/commands/stored_runs.hpp"
#include "app/terminal/terminal.hpp"
#include "clprobe/registry.hpp"
#include "present/api/report.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {

namespace {

/// Opens an output file. Throws UsageError if the path cannot be written, since nothing has been
/// measured yet.
terminal::OutputFile open_output(const std::string& path) {
  try {
    return terminal::OutputFile(path);
  } catch (const terminal::OutputError& error) {
    throw cli::UsageError(error.what());
  }
}

/// Returns true if a file name begins with `word`, a probe's name: "clock" begins "clock.svg",
/// "clock-h200.svg" and "clock_2.svg", but not "clocks.svg".
bool begins_with_word(std::string_view name, std::string_view word) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  if (!name.starts_with(word)) return false;
  return name.size() == word.size() || letters.find(name[word.size()]) == std::string_view::npos;
}

bool has_plot(std::span<const Run> runs, const PicturedPlot& wanted) {
  return std::ranges::any_of(runs, [&](const Run& run) {
    return std::ranges::any_of(run.results, [&](const ProbeResult& result) {
      return result.probe == wanted.probe &&
             std::ranges::find(result.card.plots, wanted.plot.title, &CardPlot::title) !=
                 result.card.plots.end();
    });
  });
}

}  // namespace

void refuse_to_replace(const terminal::OutputFile& output, std::string_view flag,
                       std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    if (!output.replaces(input)) continue;
    throw cli::UsageError(fmt::format("{} {} would overwrite the input {}: name another file", flag,
                                      quote(output.path()), quote(input)));
  }
}

void expect_labels(const std::vector<std::string>& labels, std::size_t runs) {
  if (labels.size() <= runs) return;
  throw cli::UsageError(fmt::format("--label: {} labels for {}: leave some out", labels.size(),
                                    format_count(runs, "run")));
}

std::string pictured_probe(std::string_view path, std::span<const std::string> probes) {
  if (probes.empty()) return {};
  if (probes.size() == 1) return probes.front();
  const std::string name = std::filesystem::path(path).stem().string();
  // The longest probe id that matches counts, since an id may be the beginning of another id.
  std::string_view found;
  for (const std::string& probe : probes) {
    if (begins_with_word(name, probe) && probe.size() > found.size()) found = probe;
  }
  if (!found.empty()) return std::string(found);
  throw cli::UsageError(
      fmt::format("an SVG shows one probe, but this run has several ({}): name one, as in `clprobe "
                  "report FILE {}`, or begin the file name with one, as in {}.svg or {}-2.svg",
                  fmt::join(probes, ", "), probes.front(), probes.front(), probes.front()));
}

std::optional<PicturedPlot> pictured_plot(std::string_view path,
                                          std::span<const std::string> probes) {
  const std::string name = std::filesystem::path(path).stem().string();
  for (const std::string& id : probes) {
    const Probe* const probe = find_probe(id);
    if (probe == nullptr) continue;
    for (const PlotSpec& each : probe->plots) {
      if (begins_with_word(name, each.title)) return PicturedPlot{id, each};
    }
  }
  return std::nullopt;
}

Results::Results(const cli::Options& options, Complain complain)
    : options_(options), complain_(std::move(complain)) {
  const bool has_stdout = std::ranges::any_of(
      options.outputs, [](const cli::Output& each) { return each.path == "-"; });
  // stdout is the first target, since writing to a named pipe may wait for the pipe's reader.
  if (!has_stdout) targets_.push_back({terminal::OutputFile("-"), options.format});
  for (const cli::Output& output : options.outputs) {
    targets_.push_back({open_output(output.path), output.format});
  }
  const std::vector<std::string> inputs = input_files(options);
  for (const Target& target : targets_) refuse_to_replace(target.file, "-o", inputs);
  if (options.command == cli::Command::measure) check_pictures({});
}

void Results::check_stdout() const {
  // If there is also a file, a closed stdout loses no results.
  const bool is_alone = targets_.size() == 1 && targets_.front().file.path() == "-";
  if (is_alone) targets_.front().file.check_open();
}

void Results::check_pictures(std::span<const Run> runs) const {
  for (const Target& target : targets_) {
    if (!target.format->is_of_one_probe) continue;
    const std::optional<PicturedPlot> plot = pictured_plot(target.file.path(), probes(runs));
    if (!plot) pictured_probe(target.file.path(), probes(runs));
    if (!plot || runs.empty() || has_plot(runs, *plot)) continue;
    throw cli::UsageError(
        fmt::format("{}: no run has a {}, which needs {}: measure both in one run",
                    target.file.path(), plot->plot.title, plot->plot.needs));
  }
}

std::vector<std::string> Results::probes(std::span<const Run> runs) const {
  std::vector<std::string> found;
  if (options_.command == cli::Command::measure) {
    for (const std::string& word : options_.words) add_once(found, word);
    if (!options_.launches.empty()) add_once(found, replay_probe()->id);
    if (found.empty()) {
      for (const Probe* const probe : all_probes()) add_once(found, probe->id);
    }
    return found;
  }
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) add_once(found, result.probe);
  }
  return found;
}

std::string Results::render(std::span<const Run> runs, const Target& target) const {
  TableStyle style = style_of(target);
  if (target.format->is_of_one_probe) {
    if (const auto plot = pictured_plot(target.file.path(), probes(runs))) {
      style.probe = plot->probe;
      style.plot = plot->plot.title;
    } else {
      style.probe = pictured_probe(target.file.path(), probes(runs));
    }
  }
  return target.format->runs(runs, style);
}

TableStyle Results::style_of(const Target& target) const {
  TableStyle style;
  style.all_points = options_.verbosity > 0;
  style.advice = options_.verbosity >= 0;
  style.unicode = terminal::has_unicode();
  style.is_stream = target.file.path() == "-";
  if (style.is_stream) {
    style.width = terminal::width_columns(STDOUT_FILENO);
    style.colour = terminal::use_colour(options_.colour, STDOUT_FILENO);
  }
  return style;
}

void Results::write(Target& target, const std::function<std::string()>& render) {
  target.is_written = false;
  std::string problem;
  try {
    target.file.commit(render());
    target.is_written = true;
  } catch (const terminal::OutputError& error) {
    problem = error.what();
  } catch (const std::exception& error) {  // such as a lack of memory
    problem = fmt::format("cannot write {}: {}", quote(target.file.path()), error.what());
  }
  if (!problem.empty() && problem != target.problem) complain_(problem);
  target.problem = problem;
}

void Results::save(std::span<const Run> runs) {
  for (Target& target : targets_) {
    if (!target.file.is_stream()) write(target, [&] { return render(runs, target); });
  }
}

int Results::finish_each(const std::function<std::string(const Target&)>& render) {
  for (const bool is_stream : {false, true}) {
    for (Target& target : targets_) {
      if (target.file.is_stream() == is_stream) write(target, [&] { return render(target); });
    }
  }
  const bool is_whole =
      std::ranges::all_of(targets_, [](const Target& target) { return target.is_written; });
  return is_whole ? exit_ok : exit_failed;
}

int Results::finish(std::span<const Run> runs) {
  // Not checked after a measurement, whose results must be written even if it is unclear which
  // probe a picture shows.
  if (options_.command != cli::Command::measure) check_pictures(runs);
  return finish_each([&](const Target& target) { return render(runs, target); });
}

int Results::finish(const Comparison& comparison, std::span<const RunDigest> runs) {
  return finish([&](const Writer& format, const TableStyle& style) {
    return format.comparison(comparison, runs, style);
  });
}

int Results::finish(const Renderer& render) {
  return finish_each([&](const Target& each) { return render(*each.format, style_of(each)); });
}

}  // namespace clprobe::commands
