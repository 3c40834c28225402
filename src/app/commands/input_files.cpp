// SPDX-License-Identifier: Apache-2.0
#include "app/commands/input_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <system_error>
#include <variant>

#include "app/commands/selection.hpp"
#include "app/commands/stored_runs.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/units.hpp"
#include "profile/api/bundle.hpp"
#include "simulation/api/simulator.hpp"
#include "system/api/files.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {

namespace {

struct Named {
  std::string_view option;
  std::string path;
};

std::vector<Named> named_traces(const cli::Options& options) {
  std::vector<Named> named;
  for (const Probe* const probe : all_probes()) {
    const auto asked = options.of_probe.find(probe->id);
    if (asked == options.of_probe.end()) continue;
    for (const Option& option : probe->options) {
      const bool is_path = std::holds_alternative<TracePath>(option.value);
      if (is_path && asked->second.own.has(option.name)) {
        named.push_back({option.name, asked->second.own.word(option.name)});
      }
    }
  }
  return named;
}

AskedTrace read_trace(const Named& named) {
  constexpr std::size_t max_bytes = mebibytes(128).count;
  try {
    const std::string text = system::read_file(named.path, max_bytes);
    return {.path = named.path,
            .sha256 = bundle::sha256_of(text),
            .file = std::make_shared<const simulator::TraceFile>(simulator::read_trace_file(text))};
  } catch (const std::system_error& error) {
    throw cli::UsageError(fmt::format("--{}: cannot read {}: {}", named.option, quote(named.path),
                                      error.code().message()));
  } catch (const simulator::TraceFileError& error) {
    throw cli::UsageError(
        fmt::format("--{}: {}: {}", named.option, quote(named.path), error.what()));
  }
}

}  // namespace

std::vector<std::string> trace_files(const cli::Options& options) {
  std::vector<std::string> files;
  for (Named& each : named_traces(options)) files.push_back(std::move(each.path));
  return files;
}

std::vector<AskedTrace> read_traces(const cli::Options& options) {
  std::vector<AskedTrace> traces;
  for (const Named& each : named_traces(options)) traces.push_back(read_trace(each));
  return traces;
}

std::vector<std::string> input_files(const cli::Options& options) {
  std::vector<std::string> files{options.baseline, options.levels_file};
  const auto add = [&](const std::vector<std::string>& more) {
    files.insert(files.end(), more.begin(), more.end());
  };
  // Probes and terms are no files, though there may be one of that name.
  if (options.command == cli::Command::import) add(options.words);
  if (options.command == cli::Command::report || options.command == cli::Command::compare) {
    for (const std::string& word : options.words) {
      for (const RunFile& each : files_in(word)) files.push_back(each.path);
    }
  }
  for (const std::string& selector : {options.device, options.other_device}) {
    add(machine_files(selector));
  }
  add(trace_files(options));
  for (const AskedLaunch& each : options.launches) add(each.bundle.files);
  // The program itself, and what it may read.
  add(options.app);
  for (std::string& each : files) {
    if (each == "-") each = "/dev/stdin";
  }
  return files;
}

}  // namespace clprobe::commands
