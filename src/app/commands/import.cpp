// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>

#include "app/commands/analyse_again.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/provenance.hpp"
#include "app/commands/results.hpp"
#include "app/commands/stored_runs.hpp"
#include "clprobe/registry.hpp"
#include "import/api/import.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

double bytes_of(cli::SizeUnit unit) {
  constexpr double kibi = 1024.0;
  constexpr std::array bytes{0.0, 1.0, kibi, kibi * kibi};  // bytes per SizeUnit, in order
  return bytes.at(static_cast<std::size_t>(unit));
}

/// Returns the length of a time unit in ns; 0 if unknown, and for cycles, which need a clock rate.
double ns_of(cli::TimeUnit unit) {
  constexpr std::array ns{0.0, 1.0, 1e3, 0.0};  // nanoseconds per TimeUnit, in order
  return ns.at(static_cast<std::size_t>(unit));
}

/// Throws UsageError for a series that no probe has, since an imported list can be compared only
/// with a series of a probe.
void check_series(const std::string& series) {
  std::vector<std::string_view> names;
  for (const Probe* const probe : all_probes()) {
    for (const Series& each : probe->series) names.push_back(each.name);
  }
  if (contains(names, series)) return;
  throw cli::UsageError(fmt::format("--series: unknown series {}: choose one of {}", quote(series),
                                    fmt::join(names, ", ")));
}

ImportHints hints_for(const cli::Options& options, const std::string& path) {
  ImportHints hints;
  hints.file = std::filesystem::path(path).filename().string();
  hints.device_name = options.device_name;
  if (!options.series.empty()) {
    check_series(options.series);
    hints.series = options.series;
  }
  hints.bytes_per_size_unit = bytes_of(options.size_unit);
  hints.ns_per_time_unit = ns_of(options.time_unit);
  hints.in_cycles = options.time_unit == cli::TimeUnit::cycles;
  hints.clock_hertz = options.clock_hertz;
  return hints;
}

std::vector<Run> import_file(const cli::Options& options, const std::string& path) {
  const std::string text = read_file(path, "name a result file of another tool");
  try {
    std::vector<Run> runs = import_runs(text, hints_for(options, path));
    for (Run& run : runs) {
      // An imported file does not say when and where it was measured; the run's tool information
      // describes the conversion by clprobe.
      run.tool = tool_info();
      analyse_again(run);
    }
    return runs;
  } catch (const RunFormatError& error) {
    throw RunFormatError(fmt::format("{}: {}", quote(path), error.what()));
  }
}

}  // namespace

int import(const cli::Options& options, const std::vector<std::string>& arguments) {
  Results results(options);
  std::vector<Run> runs;
  for (const std::string& path : options.words) {
    for (Run& run : import_file(options, path)) {
      run.arguments = arguments;
      runs.push_back(std::move(run));
    }
  }
  take_labels(options.labels, runs);
  return results.finish(runs);
}

}  // namespace clprobe::commands
