// SPDX-License-Identifier: Apache-2.0
// The command `fleet`: one function per verb.
#include "fleet/api/fleet.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands/analyse_again.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/provenance.hpp"
#include "app/commands/results.hpp"
#include "app/terminal/output.hpp"
#include "clprobe/registry.hpp"
#include "present/api/report.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

/// Returns why a run is incomplete; empty for a complete run.
std::string failure_of(const Run& run) {
  if (run.interrupted) return "interrupted";
  for (const ProbeResult& each : run.results) {
    if (each.status == Status::failed) return fmt::format("{} failed: {}", each.probe, each.reason);
  }
  return run.results.empty() ? "no results" : "";
}

fleet::Device device_of(Run& run, const ToolInfo& tool) {
  // Findings of another version may follow other rules.
  if (run.tool.version == tool.version && run.tool.commit == tool.commit) {
    for (ProbeResult& each : run.results) make_card(each);
  } else {
    analyse_again(run);
  }
  return {.node = run.labels.text_or("node", ""),
          .slot = run.labels.text_or("slot", ""),
          .rack = run.labels.text_or("rack", ""),
          .campaign = run.labels.text_or("campaign", ""),
          .together = run.labels.text_or("together", ""),
          .name = run.device.name,
          .vendor = run.device.vendor,
          .driver = run.device.driver,
          .uuid = run.device.uuid,
          .pci = run.device.pci,
          .started = run.started,
          .memory_bytes = static_cast<double>(run.device.global_memory.count),
          .failure = failure_of(run),
          .numbers = fleet_numbers(all_probes(), run)};
}

fleet::Folder load_folder(const std::string& path) {
  const ToolInfo tool = tool_info();
  try {
    return fleet::load(path, [&tool](const std::string& text) {
      std::vector<fleet::Device> devices;
      for (Run& run : runs_from_json(text)) devices.push_back(device_of(run, tool));
      return devices;
    });
  } catch (const std::system_error& error) {
    throw RunFormatError(fmt::format("cannot read {}: {}; name a folder of runs", quote(path),
                                     error.code().message()));
  }
}

/// Returns true if the condition of --fail-on is met.
bool has_failed(cli::FailOn condition, const fleet::Report& report) {
  using fleet::Standing;
  const bool has_slow = report.count(Standing::slow) > 0;
  switch (condition) {
    case cli::FailOn::slow:
      return has_slow;
    case cli::FailOn::suspect:
      return has_slow || report.count(Standing::suspect) > 0;
    case cli::FailOn::missing:
      return !report.missing.empty() || report.missing_devices > 0 || !report.failed.empty();
    default:
      return false;
  }
}

}  // namespace

int fleet_report(const cli::Options& options) {
  Results results(options);
  fleet::Folder folder;
  for (const std::string& word : options.words) {
    fleet::Folder part = load_folder(word);
    std::move(part.devices.begin(), part.devices.end(), std::back_inserter(folder.devices));
    std::move(part.bad_files.begin(), part.bad_files.end(), std::back_inserter(folder.bad_files));
  }
  if (folder.devices.empty() && folder.bad_files.empty()) {
    throw RunFormatError(
        "the folder has no runs: save one per node by `clprobe -d all -o FILE.json`");
  }
  fleet::Folder reference;
  if (!options.reference.empty()) reference = load_folder(options.reference);
  const fleet::Report report =
      fleet::analyse(std::move(folder), reference.devices,
                     {.nodes = options.nodes, .expected = options.expected_devices});
  if (options.only_suspects) {
    const std::string hosts = fleet::offending_hosts(report, true);
    terminal::OutputFile("-").commit(hosts.empty() ? "" : hosts + "\n");
    return exit_ok;
  }
  const int written = results.finish(
      [&](const Writer& format, const TableStyle& style) { return format.fleet(report, style); });
  if (written != exit_ok) return written;
  return has_failed(options.fail_on, report) ? exit_changed : exit_ok;
}

}  // namespace clprobe::commands
