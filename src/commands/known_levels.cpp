// SPDX-License-Identifier: Apache-2.0
#include "commands/known_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "clprobe/registry.hpp"
#include "commands/read_runs.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

/// What the probes of a run want later ones to know.
Known known_of(const Run& run) {
  Known known;
  for (const ProbeResult& result : run.results) {
    const Probe* const probe = find_probe(result.probe);
    if (probe != nullptr && probe->learn != nullptr) probe->learn(result, known);
  }
  return known;
}

}  // namespace

std::vector<Run> read_levels(const std::string& path) {
  std::vector<Run> runs = read_runs(path);
  std::erase_if(runs, [](const Run& each) { return known_of(each).levels.empty(); });
  if (!runs.empty()) return runs;
  throw cli::UsageError(
      fmt::format("--levels: {} contains no level with a known capacity: make a file with `clprobe "
                  "latency -o FILE.json`",
                  quote(path)));
}

Known known_levels(const cli::Options& options, const DeviceInfo& device) {
  if (options.levels_runs.empty()) return {};
  // Drivers pad their names. The newest run of several knows best.
  const auto found = std::find_if(
      options.levels_runs.rbegin(), options.levels_runs.rend(),
      [&](const Run& each) { return trimmed(each.device.name) == trimmed(device.name); });
  if (found != options.levels_runs.rend()) return known_of(*found);
  throw cli::UsageError(
      fmt::format("--levels: {} was measured on {}, not on {}", quote(options.levels_file),
                  quote(options.levels_runs.front().device.name), quote(device.name)));
}

}  // namespace clprobe::commands
