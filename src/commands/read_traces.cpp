// SPDX-License-Identifier: Apache-2.0
#include "commands/read_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <variant>

#include "clprobe/launch.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/trace_file.hpp"
#include "clprobe/units.hpp"
#include "commands/selection.hpp"
#include "system/read_file.hpp"
#include "text/text.hpp"

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
  for (const Named& each : named_traces(options)) {
    if (options.device.starts_with(recorded_prefix)) {
      throw cli::UsageError(
          fmt::format("--{}: a recorded run has its own points: choose a simulated machine with "
                      "--device sim:PRESET",
                      each.option));
    }
    traces.push_back(read_trace(each));
  }
  return traces;
}

}  // namespace clprobe::commands
