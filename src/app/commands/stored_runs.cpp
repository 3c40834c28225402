// SPDX-License-Identifier: Apache-2.0
#include "app/commands/stored_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <variant>

#include "app/cli/options.hpp"
#include "app/cli/values.hpp"
#include "app/commands/analyse_again.hpp"
#include "app/commands/devices.hpp"
#include "app/terminal/output.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/units.hpp"
#include "profile/api/bundle.hpp"
#include "simulation/api/simulator.hpp"
#include "system/api/files.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {

namespace {

// Maximum size of a run document. A thorough run of all probes has a few MB; parsed, a document
// takes about ten times the size of its text in memory.
constexpr Bytes max_bytes = mebibytes(128);

constexpr std::string_view run_hint = "name a JSON file saved with -o";

[[noreturn]] void refuse(const std::string& path, std::string_view problem, std::string_view hint) {
  throw RunFormatError(fmt::format("cannot read {}: {}; {}", quote(path), problem, hint));
}

}  // namespace

std::string read_file(const std::string& path, std::string_view hint) {
  std::string text;
  try {
    text = system::read_file(path, max_bytes.count);
  } catch (const std::system_error& error) {
    if (error.code().value() != EFBIG) refuse(path, error.code().message(), hint);
    refuse(path, fmt::format("it is larger than {}", format_bytes(max_bytes)), hint);
  }
  if (text.empty()) refuse(path, "it is empty", hint);
  return text;
}

std::vector<Run> read_runs(const std::string& path) {
  const std::string text = read_file(path == "-" ? "/dev/stdin" : path, run_hint);
  std::vector<Run> runs;
  try {
    runs = analysed_runs_from_json(text);
  } catch (const RunFormatError& error) {
    const std::string problem = error.what();
    const bool is_no_json = problem.starts_with("document: expected JSON");
    throw RunFormatError(
        fmt::format("{}: {}{}", quote(path), problem,
                    is_no_json ? "; `clprobe import` reads other tools' files" : ""));
  }
  if (runs.empty()) refuse(path, "it contains no run", run_hint);
  return runs;
}

std::vector<RunFile> files_in(const std::string& word) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(word, error)) return {{word}};
  std::vector<RunFile> files;
  fs::recursive_directory_iterator entries(word, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (entries->is_regular_file(error) && entries->path().extension() == ".json") {
      files.push_back({entries->path().string(), true});
    }
  }
  if (error) {
    throw RunFormatError(fmt::format("cannot read {}: {}; name a folder with JSON files",
                                     quote(word), error.message()));
  }
  if (files.empty()) {
    throw RunFormatError(fmt::format(
        "{} has no .json files: name a folder with JSON files saved with -o", quote(word)));
  }
  std::ranges::sort(files, [](const RunFile& a, const RunFile& b) { return a.path < b.path; });
  return files;
}

void complain_or_throw(const RunFile& file, const std::exception_ptr& error) {
  if (!file.is_of_folder) std::rethrow_exception(error);
  try {
    std::rethrow_exception(error);
  } catch (const RunFormatError& problem) {
    terminal::complain(fmt::format("{}; the file is skipped", problem.what()));
  }
}

namespace {

/// Returns what the probes of a run have found that other probes need, such as memory levels.
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
  // Names are compared without spaces at their ends. If more than one run matches, the last run
  // counts.
  const auto found = std::find_if(
      options.levels_runs.rbegin(), options.levels_runs.rend(),
      [&](const Run& each) { return trimmed(each.device.name) == trimmed(device.name); });
  if (found != options.levels_runs.rend()) return known_of(*found);
  throw cli::UsageError(
      fmt::format("--levels: {} was measured on {}, not on {}: measure `latency` on this device",
                  quote(options.levels_file), quote(options.levels_runs.front().device.name),
                  quote(device.name)));
}

namespace {

/// Returns the last `parts` components of a path, or the whole path if it has fewer.
std::string_view tail(std::string_view path, std::size_t parts) {
  std::size_t at = path.size();
  for (; parts > 0; --parts) {
    const std::size_t slash = at == 0 ? std::string_view::npos : path.rfind('/', at - 1);
    if (slash == std::string_view::npos) return path;
    at = slash;
  }
  return path.substr(at + 1);
}

bool reveals_folders(std::string_view path) {
  return path.starts_with('/') || path.starts_with("../") ||
         path.find("/../") != std::string_view::npos;
}

}  // namespace

std::vector<std::string> run_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names = paths;
  const std::set<std::string_view> distinct(paths.begin(), paths.end());
  std::set<std::string_view> unnamed;
  std::ranges::copy_if(distinct, std::inserter(unnamed, unnamed.end()), reveals_folders);
  for (std::size_t parts = 1; !unnamed.empty(); ++parts) {
    std::map<std::string_view, std::size_t> count;
    for (const std::string_view path : distinct) ++count[tail(path, parts)];
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::string_view name = tail(paths[i], parts);
      const bool is_distinct = count[name] == 1 || name == paths[i];
      if (is_distinct && unnamed.contains(paths[i])) names[i] = name;
    }
    std::erase_if(unnamed, [&](std::string_view path) {
      const std::string_view name = tail(path, parts);
      return count[name] == 1 || name == path;
    });
  }
  return names;
}

namespace {

std::vector<std::string> probes_in(const std::vector<Run>& runs) {
  std::vector<std::string> there;
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) add_once(there, result.probe);
  }
  return there;
}

std::vector<std::string> series_in(const std::vector<Run>& runs) {
  std::vector<std::string> there;
  for (const Run& run : runs) {
    for (const ProbeResult& result : run.results) {
      for (const Finding& finding : result.findings) add_once(there, finding.series);
      for (const Point& point : result.points) add_once(there, point.series);
    }
  }
  return there;
}

/// Removes points, findings and warnings of all series except `series`, and rebuilds the card.
void keep_series(ProbeResult& result, const std::vector<std::string>& series) {
  std::erase_if(result.points, [&](const Point& each) { return !contains(series, each.series); });
  std::erase_if(result.findings,
                [&](const Finding& each) { return !contains(series, each.series); });
  std::erase_if(result.warnings, [&](const Warning& each) {
    const std::string about = each.facts.text_or("series", "");
    return !about.empty() && !contains(series, about);
  });
  make_card(result);
}

/// Returns true for a warning about a pair of probes of which neither is shown.
bool is_between_others(const Warning& warning, const std::vector<std::string>& probes) {
  const std::string other = warning.facts.text_or("other_probe", "");
  return !other.empty() && !contains(probes, other) &&
         !contains(probes, warning.facts.text_or("probe", ""));
}

bool is_empty(const ProbeResult& result) {
  return result.points.empty() && result.findings.empty();
}

}  // namespace

void refuse_missing(std::string_view kind, const std::vector<std::string>& wanted,
                    const std::vector<std::string>& there) {
  for (const std::string& word : wanted) {
    if (contains(there, word)) continue;
    throw cli::UsageError(fmt::format("no run contains the {} {}: choose from {}", kind,
                                      quote(word),
                                      quote(fmt::format("{}", fmt::join(there, ", ")))));
  }
}

void keep_shown_part(std::vector<Run>& runs, const std::vector<std::string>& probes,
                     const std::string& series) {
  if (!probes.empty()) {
    refuse_missing("probe", probes, probes_in(runs));
    for (Run& run : runs) {
      const auto others = std::stable_partition(
          run.results.begin(), run.results.end(),
          [&](const ProbeResult& each) { return contains(probes, each.probe); });
      std::move(others, run.results.end(), std::back_inserter(run.unshown));
      run.results.erase(others, run.results.end());
      std::erase_if(run.warnings,
                    [&](const Warning& each) { return is_between_others(each, probes); });
    }
    std::erase_if(runs, [](const Run& run) { return run.results.empty(); });
  }
  if (series.empty()) return;
  const std::vector<std::string_view> words = cli::split_list(series);
  const std::vector<std::string> wanted(words.begin(), words.end());
  refuse_missing("series", wanted, series_in(runs));
  for (Run& run : runs) {
    for (ProbeResult& result : run.results) keep_series(result, wanted);
    std::erase_if(run.results, is_empty);
  }
  std::erase_if(runs, [](const Run& run) { return run.results.empty(); });
}

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
  try {
    const std::string text = system::read_file(named.path, max_bytes.count);
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
  // Only the words of `import`, `report`, `describe` and `compare` are files.
  if (options.command == cli::Command::import) add(options.words);
  const bool reads_runs =
      options.command == cli::Command::report || options.command == cli::Command::describe ||
      options.command == cli::Command::doctor || options.command == cli::Command::compare;
  if (reads_runs) {
    for (const std::string& word : options.words) {
      for (const RunFile& each : files_in(word)) files.push_back(each.path);
    }
  }
  for (const std::string& selector : {options.device, options.other_device}) {
    add(machine_files(selector));
  }
  add(trace_files(options));
  for (const AskedLaunch& each : options.launches) add(each.bundle.files);
  // The program of `profile` and its arguments, which may be files.
  add(options.app);
  for (std::string& each : files) {
    if (each == "-") each = "/dev/stdin";
  }
  return files;
}

}  // namespace clprobe::commands
