// SPDX-License-Identifier: Apache-2.0
#include "commands/input_files.hpp"

#include <string_view>

#include "clprobe/registry.hpp"
#include "commands/read_runs.hpp"
#include "commands/read_traces.hpp"
#include "commands/selection.hpp"

namespace clprobe::commands {

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
    const bool is_recorded = selector.starts_with(recorded_prefix);
    if (is_recorded) files.push_back(selector.substr(recorded_prefix.size()));
    if (!is_recorded) add(machine_files(selector));
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
