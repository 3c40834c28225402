// SPDX-License-Identifier: Apache-2.0
#include "app/commands/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "app/commands/commands.hpp"
#include "app/commands/devices.hpp"
#include "app/terminal/output.hpp"
#include "app/terminal/terminal.hpp"
#include "clprobe/registry.hpp"
#include "measure/api/engine.hpp"
#include "system/api/processes.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

bool can_run(const Probe& probe, const DeviceInfo& device) {
  return is_simulated(device) ? probe.trace != nullptr : probe.open != nullptr;
}

/// Throws UsageError if `size`, the value of `option`, exceeds the largest buffer of the device.
void refuse_beyond(const DeviceInfo& device, std::string_view option, Bytes size) {
  if (device.max_allocation.count == 0 || size <= device.max_allocation) return;
  throw cli::UsageError(fmt::format("--{}: {} exceeds the largest buffer of {}: choose at most {}",
                                    option, format_bytes(size), quote(device.name),
                                    format_bytes(device.max_allocation)));
}

struct ProbePlan {
  std::string text{};
  double seconds{0.0};
};

/// Returns the plan of a probe: "latency: 312 points in 7 series, 1.06 GiB, about 14 s" (without a
/// time limit: "each point measured once"), and a line per series and per omitted finding.
ProbePlan plan_of(const Probe& probe, const DeviceInfo& device, const cli::Options& options,
                  std::size_t probes) {
  const Plan plan = probe.plan(device, cli::request_for(probe, options));
  std::vector<std::string> series;
  for (const Point& point : plan.points) add_once(series, point.series);
  ProbePlan made;
  std::string& text = made.text;
  if (!plan.points.empty()) {
    const Budget budget = budget_of(probe, options, probes);
    std::string time = "each point measured once";
    if (has_limit(budget, device)) {
      made.seconds = plan.seconds > 0.0 ? plan.seconds : expected_seconds(budget);
      time = fmt::format("{} {:.0f} s", plan.seconds > 0.0 ? "about" : "up to", made.seconds);
    }
    text = fmt::format("  {}: {} in {} series, {}, {}\n", probe.id,
                       format_count(plan.points.size(), "point"), series.size(),
                       format_bytes(plan.memory), time);
  }
  for (const std::string& name : series) {
    const auto points = std::ranges::count_if(
        plan.points, [&](const Point& point) { return point.series == name; });
    text += fmt::format("    {}: {}\n", name,
                        format_count(static_cast<std::uint64_t>(points), "point"));
  }
  for (const Finding& finding : plan.findings) {
    text += fmt::format("  {} {}: not measured: {}\n", probe.id, printable(finding.series),
                        printable(finding.reason));
  }
  return made;
}

std::string plan_of_device(const DeviceInfo& device, const cli::Options& options) {
  std::string text = fmt::format("{}\n", cut_to_width(printable(device.name), 70));
  const std::vector<const Probe*> probes = wanted_probes(options, device);
  double seconds = 0.0;
  for (const Probe* const probe : probes) {
    const ProbePlan made = plan_of(*probe, device, options, probes.size());
    text += made.text;
    seconds += made.seconds;
  }
  if (probes.size() > 1 && seconds > 0.0) {
    text += fmt::format("  together: up to {:.0f} s\n", seconds);
  }
  return text;
}

}  // namespace

std::vector<const Probe*> wanted_probes(const cli::Options& options, const DeviceInfo& device) {
  if (!options.launches.empty()) return {replay_probe()};
  std::vector<const Probe*> probes;
  for (const Probe* const probe : all_probes()) {
    const bool is_chosen = options.command != cli::Command::doctor || probe->is_in_checkup;
    const bool is_wanted = options.words.empty() ? is_chosen && can_run(*probe, device)
                                                 : contains(options.words, probe->id);
    if (is_wanted) probes.push_back(probe);
  }
  return probes;
}

Budget budget_of(const Probe& probe, const cli::Options& options, std::size_t probes) {
  Budget budget = probe.budgets.of(options.effort);
  budget.seed = options.seed;
  if (options.time_budget) {
    budget.is_asked_for = true;
    budget.probe_time =
        *options.time_budget / static_cast<double>(std::max<std::size_t>(1, probes));
  }
  return budget;
}

void check_requests(const cli::Options& options, const DeviceInfo& device) {
  refuse_beyond(device, "max-memory", options.max_memory);
  for (const Probe* const probe : wanted_probes(options, device)) {
    const Request request = cli::request_for(*probe, options);
    for (const auto& [name, value] : request.own) {
      const auto* const ranges = std::get_if<std::vector<SizeRange>>(&value);
      if (ranges == nullptr) continue;
      for (const SizeRange& range : *ranges) refuse_beyond(device, name, range.last);
    }
    if (probe->check == nullptr) continue;
    const std::string problem = probe->check(device, request);
    if (!problem.empty()) throw cli::UsageError(problem);
  }
}

int show_plan(const cli::Options& options) {
  Devices devices(options, terminal::complain);
  const std::vector<Target> targets = devices.select(options.device);
  for (const Target& target : targets) check_requests(options, target.info);
  std::string text;
  int status = exit_ok;
  terminal::ProgressLine progress(STDERR_FILENO);
  for (const Target& target : targets) {
    // A run tests the clock and the event times before it plans, since they determine which series
    // exist. The tests take 0.5 s on PoCL, so the progress line shows them.
    if (options.verbosity >= 0) {
      progress.show({.title = fmt::format("trying {}", target.info.name)});
    }
    try {
      const std::unique_ptr<Backend> backend = devices.open(target);
      progress.clear();
      text += plan_of_device(backend->device(), options);
    } catch (const DeviceError& error) {
      if (system::is_interrupted()) throw;
      // The plans of the remaining devices are still printed, since a run would also measure these
      // devices.
      progress.clear();
      terminal::complain(fmt::format("{}: {}", quote(target.info.name), error.what()));
      status = exit_failed;
    }
  }
  terminal::OutputFile("-").commit(text);
  return status;
}

}  // namespace clprobe::commands
