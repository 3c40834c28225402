// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "clprobe/engine.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/simulated.hpp"
#include "clprobe/worker.hpp"
#include "commands/commands.hpp"
#include "commands/interrupt.hpp"
#include "commands/provenance.hpp"
#include "commands/read_runs.hpp"
#include "commands/results.hpp"
#include "commands/selection.hpp"
#include "terminal/output.hpp"
#include "terminal/progress.hpp"
#include "text/text.hpp"

namespace clprobe::commands {
namespace {

constexpr std::string_view recorded_prefix = "recorded:";

std::vector<const Probe*> wanted_probes(const cli::Options& options) {
  std::vector<const Probe*> probes;
  for (const Probe* const probe : all_probes()) {
    const bool is_wanted =
        options.words.empty() ||
        std::find(options.words.begin(), options.words.end(), probe->id) != options.words.end();
    if (is_wanted) probes.push_back(probe);
  }
  return probes;
}

WorkerSettings worker_settings(const cli::Options& options) {
  WorkerSettings settings;
  settings.seed = options.limits.seed;
  settings.timeout = options.timeout;
  settings.clock = options.clock;
  settings.cancelled = is_interrupted;
  return settings;
}

Budget budget_of(const Probe& probe, const cli::Options& options, std::size_t probes) {
  const Effort effort = options.limits.effort;
  Budget budget = probe.budgets.of(effort);
  budget.seed = options.limits.seed;
  if (options.time_budget) {
    budget.probe_time =
        *options.time_budget / static_cast<double>(std::max<std::size_t>(1, probes));
  }
  return budget;
}

/// Sizes that no device of this kind can have are a mistake of the person, not of the device.
void check_limits(const cli::Options& options, const DeviceInfo& device) {
  const Limits& limits = options.limits;
  const auto refuse = [&](std::string_view flag, Bytes size) {
    throw cli::UsageError(fmt::format("--{}: {} is more than {} has: choose at most {}", flag,
                                      format_bytes(size), quote(device.name),
                                      format_bytes(device.max_allocation)));
  };
  const bool is_known = device.max_allocation.count != 0;
  if (is_known && limits.max_memory > device.max_allocation) {
    refuse("max-memory", limits.max_memory);
  }
  for (const SizeRange& range : limits.sizes) {
    if (is_known && range.last > device.max_allocation) refuse("sizes", range.last);
  }
  for (const Probe* const probe : wanted_probes(options)) {
    if (probe->check == nullptr) continue;
    const std::string problem = probe->check(device, limits);
    if (!problem.empty()) throw cli::UsageError(problem);
  }
}

/// The largest capacity that is not a translation's, in what `latency` found; 0 without one.
Bytes last_cache_of(const ProbeResult& result) {
  constexpr std::string_view series = "global";
  Bytes largest{};
  for (const Finding& each : result.findings) {
    if (result.probe != "latency" || each.name != "capacity" || each.series != series) continue;
    const bool is_translation =
        std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& other) {
          return other.name == "step" && other.series == series && other.level == each.level &&
                 other.label == "translation";
        });
    if (is_translation || !each.value) continue;
    largest = std::max(largest, Bytes{static_cast<std::uint64_t>(*each.value)});
  }
  return largest;
}

/// One device after another, everything that it gave kept in `runs`.
class MeasuringAll {
 public:
  MeasuringAll(const cli::Options& options, const std::vector<std::string>& arguments)
      : options_(options), arguments_(arguments), results_(options) {}

  int run() {
    if (options_.device.starts_with(recorded_prefix)) {
      const auto path = options_.device.substr(recorded_prefix.size());
      for (Run& recorded : read_runs(path)) {
        measure_device(recorded_backend(std::move(recorded)));
      }
    } else {
      measure_targets();
    }
    progress_.clear();
    results_.finish(runs_);
    if (is_interrupted()) return exit_interrupted;
    return any_failed_ ? exit_failed : exit_ok;
  }

 private:
  void measure_targets() {
    const WorkerSettings settings = worker_settings(options_);
    std::optional<DeviceList> found;
    const auto list = [&]() -> const DeviceList& {
      if (!found) found = list_devices(settings);
      return *found;
    };
    for (const Target& target : select_targets(options_.device, list)) {
      if (is_interrupted()) break;
      check_limits(options_, target.info);
      if (target.machine) {
        measure_device(simulated_backend(*target.machine, options_.limits.seed));
      } else {
        open_and_measure(target.info, settings, std::exchange(found->child, nullptr));
      }
    }
  }

  void open_and_measure(const DeviceInfo& device, const WorkerSettings& settings,
                        std::shared_ptr<ChildProcess> child) {
    if (options_.verbosity >= 0) {
      progress_.show({fmt::format("trying {}", device.name), 0.0, -1.0});
    }
    try {
      measure_device(remote_backend(device.index, settings, std::move(child)));
    } catch (const DeviceError& error) {
      if (is_interrupted()) return;
      // The other devices can still be measured, and the document says what happened to this one.
      Run& run = new_run(device);
      run.warnings.push_back({"device_failed", {{"reason", std::string(error.what())}}});
      any_failed_ = true;
      say(fmt::format("clprobe: {}: {}", quote(device.name), error.what()));
    }
  }

  void measure_device(const std::unique_ptr<Backend>& backend) {
    Run& run = new_run(backend->device());
    run.warnings = backend->warnings();
    const std::vector<const Probe*> probes = wanted_probes(options_);
    Limits limits = options_.limits;
    Observer observer;
    observer.cancelled = is_interrupted;
    observer.progress = [this](const Probe& probe, double done_share, double seconds_left) {
      if (options_.verbosity >= 0) {
        progress_.show({std::string(probe.title), done_share, seconds_left});
      }
    };
    for (const Probe* const probe : probes) {
      if (is_interrupted()) break;
      const Budget budget = budget_of(*probe, options_, probes.size());
      run.results.push_back(clprobe::measure(*probe, *backend, limits, budget, observer));
      limits.last_cache = std::max(limits.last_cache, last_cache_of(run.results.back()));
      run.interrupted = is_interrupted();
      if (run.results.back().status == Status::failed) {
        any_failed_ = true;
        // On stderr too: stdout may go where nobody reads before the exit code is seen.
        say(fmt::format("clprobe: {}: {}; what was measured is kept", probe->id,
                        run.results.back().reason));
      }
      results_.save(runs_);
    }
    run.interrupted = is_interrupted();
  }

  Run& new_run(const DeviceInfo& device) {
    Run run;
    run.tool = tool_info();
    run.host = host_info();
    run.started = utc_now();
    run.arguments = arguments_;
    run.seed = options_.limits.seed;
    run.device = device;
    runs_.push_back(std::move(run));
    return runs_.back();
  }

  void say(const std::string& line) {
    progress_.clear();
    fmt::print(stderr, "{}\n", printable(line));
  }

  const cli::Options& options_;
  const std::vector<std::string>& arguments_;
  Results results_;
  terminal::ProgressLine progress_{STDERR_FILENO};
  std::vector<Run> runs_{};
  bool any_failed_{false};
};

/// --dry-run: what would be measured, without touching the device.
int show_plan(const cli::Options& options) {
  std::string text;
  std::optional<DeviceList> found;
  const auto list = [&]() -> const DeviceList& {
    if (!found) found = list_devices(worker_settings(options));
    return *found;
  };
  for (const Target& target : select_targets(options.device, list)) {
    const DeviceInfo& device = target.info;
    check_limits(options, device);
    text += fmt::format("{}\n", cut_to_width(printable(device.name), 70));
    for (const Probe* const probe : wanted_probes(options)) {
      const Plan plan = probe->plan(device, options.limits);
      std::vector<std::string> series;
      for (const Point& point : plan.points) {
        if (series.empty() || series.back() != point.series) series.push_back(point.series);
      }
      for (const std::string& name : series) {
        const auto points = std::count_if(plan.points.begin(), plan.points.end(),
                                          [&](const Point& point) { return point.series == name; });
        const auto largest = std::max_element(
            plan.points.begin(), plan.points.end(), [&](const Point& a, const Point& b) {
              const auto size = [&](const Point& point) {
                return point.series == name ? point.parameters.integer_or("working_set_bytes", 0)
                                            : 0;
              };
              return size(a) < size(b);
            });
        const auto bytes = largest->parameters.integer_or("working_set_bytes", 0);
        const std::string last =
            bytes == 0 ? "" : " up to " + format_bytes({static_cast<std::uint64_t>(bytes)});
        text += fmt::format("  {} {}: {}{}\n", probe->id, name,
                            format_count(static_cast<std::uint64_t>(points), "point"), last);
      }
      for (const Finding& finding : plan.findings) {
        text += fmt::format("  {} {}: not measured: {}\n", probe->id, finding.series,
                            printable(finding.reason));
      }
    }
  }
  terminal::OutputFile("-").commit(text);
  return exit_ok;
}

}  // namespace

int measure(const cli::Options& options, const std::vector<std::string>& arguments) {
  watch_for_interrupts();
  if (options.dry_run) return show_plan(options);
  return MeasuringAll(options, arguments).run();
}

}  // namespace clprobe::commands
