// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/without_folders.hpp"
#include "app/commands/devices.hpp"
#include "app/commands/provenance.hpp"
#include "app/commands/results.hpp"
#include "app/commands/stored_runs.hpp"
#include "app/terminal/output.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/run.hpp"
#include "measure/api/worker.hpp"
#include "present/api/explain.hpp"
#include "present/api/report.hpp"
#include "text/api/embedded.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

int print(std::string_view text) {
  terminal::OutputFile("-").commit(text);
  return exit_ok;
}

int generate(const cli::Options& options) {
  const std::string& what = options.words.front();
  if (what == "schema") {
    return print(
        embedded_file(fmt::format("{}-{}.schema.json", run_schema_name, run_schema_version)));
  }
  if (what == "man") return print(cli::man_page(all_probes()));
  if (what == "device-schema") return print(embedded_file("clprobe-device-1.schema.json"));
  return print(cli::completion_script(what));
}

/// Returns the possible values of --device: the devices of this computer, and the simulated
/// devices.
std::vector<cli::Described> selectable_devices() {
  std::vector<cli::Described> all{{"all", "all devices"}};
  try {
    constexpr std::chrono::seconds patience{3};
    for (const DeviceInfo& each : list_devices({.timeout = patience}).devices) {
      all.push_back({fmt::to_string(each.index), printable(each.name)});
    }
  } catch (const DeviceError&) {
    // Without a driver, only the simulated devices are listed.
  }
  for (const std::string& word : preset_words()) all.push_back({word, "simulated"});
  return all;
}

int complete(const cli::Options& options) {
  cli::Completed known{.probes = all_probes(), .devices = selectable_devices};
  const std::vector<std::vector<std::string>> explained = terms_in(embedded_file("glossary.md"));
  for (const OtherPage& page : other_pages) known.terms.push_back(page.word);
  for (const std::vector<std::string>& same : explained) {
    if (find_probe(same.front()) == nullptr) known.terms.emplace_back(same.front());
  }
  return print(cli::complete(options.words, known));
}

int help(const cli::Options& options) {
  if (options.words.empty()) return print(cli::help_text(all_probes()));
  std::string text;
  for (const std::string& word : options.words) {
    const Probe* const probe = find_probe(word);
    text += fmt::format("{}{}", text.empty() ? "" : "\n",
                        probe != nullptr ? cli::probe_help(*probe) : cli::command_help(word));
  }
  return print(text);
}

int show_version() {
  const ToolInfo tool = tool_info();
  return print(fmt::format("clprobe {} ({}, {})\n", tool.version, tool.commit, tool.compiler));
}

/// Returns the options; if no device was typed, with the device in the environment variable
/// CLPROBE_DEVICE.
cli::Options with_device(cli::Options options) {
  const char* const device = std::getenv("CLPROBE_DEVICE");
  if (options.device.empty() && device != nullptr) options.device = device;
  return options;
}

/// Returns the options, completed by the device in CLPROBE_DEVICE and the traces that options of
/// probes name.
cli::Options completed(cli::Options options) {
  options = with_device(std::move(options));
  options.traces = read_traces(options);
  return options;
}

constexpr Writer description_format{.name = "describe",
                                    .runs = [](std::span<const Run> runs, const TableStyle& style) {
                                      return describe_devices(all_probes(), runs, style);
                                    }};

constexpr Writer checkup_format{.name = "doctor",
                                .runs = [](std::span<const Run> runs, const TableStyle& style) {
                                  return checkup_text(all_probes(), runs, style);
                                }};

/// Throws UsageError if `word` names no existing file and resembles the name of a probe.
void refuse_mistyped_probe(const std::string& word) {
  std::error_code error;
  if (word == "-" || std::filesystem::exists(word, error)) return;
  std::vector<std::string_view> ids;
  for (const Probe* const probe : all_probes()) ids.push_back(probe->id);
  const std::optional<std::string_view> meant = nearest(word, ids);
  if (!meant) return;
  throw cli::UsageError(
      fmt::format("file {} does not exist: did you mean the probe '{}'?", quote(word), *meant));
}

}  // namespace

bool is_ill(const cli::Options& options, std::span<const Run> runs) {
  return options.command == cli::Command::doctor &&
         std::ranges::any_of(runs, [](const Run& run) { return has_problem(all_probes(), run); });
}

int report(const cli::Options& options) {
  Results results(options);
  std::vector<Run> runs;
  for (const std::string& word : options.words) {
    refuse_mistyped_probe(word);
    for (const RunFile& file : files_in(word)) {
      try {
        for (Run& run : read_runs(file.path)) runs.push_back(std::move(run));
      } catch (const RunFormatError&) {
        complain_or_throw(file, std::current_exception());
      }
    }
  }
  if (runs.empty()) throw RunFormatError("no file contains a run: name a JSON file saved with -o");
  take_labels(options.labels, runs);
  keep_shown_part(runs, options.shown_probes, options.series);
  const int written = results.finish(runs);
  return written == exit_ok && is_ill(options, runs) ? exit_failed : written;
}

int describe(cli::Options options, const std::vector<std::string>& arguments) {
  options.format = &description_format;
  for (cli::Output& each : options.outputs) each.format = &description_format;
  return options.words.empty() ? measure(options, arguments) : report(options);
}

int doctor(cli::Options options, const std::vector<std::string>& arguments) {
  options.format = &checkup_format;
  if (!options.words.empty()) return report(options);
  if (options.effort == Effort::normal) options.effort = Effort::quick;
  return measure(options, arguments);
}

int run(const cli::Options& options, const std::vector<std::string>& arguments) {
  switch (options.command) {
    case cli::Command::measure:
      return measure(completed(options), cli::without_folders(arguments));
    case cli::Command::list:
      return list(options);
    case cli::Command::explain:
      return explain(options);
    case cli::Command::report:
      return report(options);
    case cli::Command::describe:
      return describe(completed(options), cli::without_folders(arguments));
    case cli::Command::doctor:
      return doctor(completed(options), cli::without_folders(arguments));
    case cli::Command::fleet_report:
      return fleet_report(options);
    case cli::Command::compare:
      return compare(options);
    case cli::Command::live:
      return compare_live(completed(options), cli::without_folders(arguments));
    case cli::Command::import:
      return import(options, cli::without_folders(arguments));
    case cli::Command::profile:
      return profile(with_device(options), cli::without_folders(arguments));
    case cli::Command::generate:
      return generate(options);
    case cli::Command::version:
      return show_version();
    case cli::Command::help:
      return help(options);
    case cli::Command::complete:
      return complete(options);
    case cli::Command::worker:
      return serve();
  }
  return exit_usage;
}

}  // namespace clprobe::commands
