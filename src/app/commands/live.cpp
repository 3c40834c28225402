// SPDX-License-Identifier: Apache-2.0
// `compare --live`: two sides measured alternately.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/without_folders.hpp"
#include "app/commands/analyse_again.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/devices.hpp"
#include "app/commands/fail_on.hpp"
#include "app/commands/input_files.hpp"
#include "app/commands/live.hpp"
#include "app/commands/plan.hpp"
#include "app/commands/provenance.hpp"
#include "app/commands/results.hpp"
#include "app/terminal/output.hpp"
#include "app/terminal/progress.hpp"
#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"
#include "compare/api/paired.hpp"
#include "system/api/processes.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

const std::string& selector_of(const cli::Options& options, std::size_t side) {
  return side == 1 && !options.other_device.empty() ? options.other_device : options.device;
}

/// "side B, OCL_ICD_VENDORS=new.icd": without folders, since a comparison may be published.
std::string name_of(const cli::Options& options, std::size_t side) {
  std::string name = side == 0 ? "side A" : "side B";
  for (const auto& [variable, value] : options.environments.at(side)) {
    name += ", " + cli::variable_without_folders(fmt::format("{}={}", variable, value));
  }
  return name;
}

/// Measuring once takes the time of its effort: a typed budget is for alternating.
cli::Options without_time(cli::Options options) {
  options.time_budget.reset();
  return options;
}

/// Chooses the device of a side. No device is opened before both sides are chosen, so that a
/// mistake costs no time.
void choose(const cli::Options& options, std::size_t index, Devices& devices, Side& side) {
  std::vector<Target> targets;
  try {
    targets = devices.select(selector_of(options, index));
  } catch (const cli::UsageError& error) {
    throw cli::UsageError(fmt::format("{}: {}", side.name, error.what()));
  } catch (const NoDevice& error) {
    throw NoDevice(fmt::format("{}: {}", side.name, error.what()));
  }
  if (targets.size() != 1) {
    throw cli::UsageError(fmt::format(
        "{} selects {} devices, but compare --live takes one device per side: name one device",
        side.name, targets.size()));
  }
  side.target = std::move(targets.front());
  check_requests(without_time(options), side.target.info);
}

/// A device that cannot be opened is a warning of its run.
void open(const LiveObserver& observer, Devices& devices, Side& side) {
  const DeviceInfo& info = side.target.info;
  side.run.device = info;
  observer.progress({.title = fmt::format("{}: trying {}", side.name, info.name)});
  try {
    side.backend = devices.open(side.target);
  } catch (const DeviceError& error) {
    if (observer.cancelled()) return;
    side.run.warnings.push_back({"device_failed", {{"reason", std::string(error.what())}}});
    observer.say(fmt::format("{}: {}: {}", side.name, quote(info.name), error.what()));
    return;
  }
  side.run.device = side.backend->device();
  side.run.warnings = side.backend->warnings();
}

/// Chooses the device of each side, in that side's environment, and opens it. Throws UsageError,
/// NoDevice, DeviceError.
void open_sides(const cli::Options& options, const std::vector<std::string>& arguments,
                const LiveObserver& observer, Sides& sides) {
  std::vector<Devices> devices;
  devices.reserve(sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Side& side = sides.at(i);
    side.name = name_of(options, i);
    side.run = new_run(options, arguments);
    devices.emplace_back(options, [&observer, &side](std::string_view line) {
      observer.say(fmt::format("{}: {}", side.name, line));
    });
    devices[i].settings().environment = options.environments.at(i);
    choose(options, i, devices[i], side);
  }
  for (std::size_t i = 0; i < sides.size() && !observer.cancelled(); ++i) {
    open(observer, devices[i], sides.at(i));
  }
}

/// Returns whether both sides are one device in one environment.
bool are_alike(const cli::Options& options, const Sides& sides) {
  const auto variables = [&](std::size_t side) {
    std::vector<std::pair<std::string, std::string>> sorted = options.environments.at(side);
    std::ranges::sort(sorted);
    return sorted;
  };
  const Target& a = sides[0].target;
  const Target& b = sides[1].target;
  return a.machine == b.machine && a.info.index == b.info.index && a.info.name == b.info.name &&
         a.info.driver == b.info.driver && variables(0) == variables(1);
}

/// Measures every requested probe on both sides. Their passes alternate.
void measure_once(const cli::Options& options, const LiveObserver& live, Sides& sides) {
  const cli::Options asked = without_time(options);
  std::vector<EngineProbe> probes;
  std::vector<std::size_t> side_of;  // by the place of a probe
  std::array<Known, 2> known;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    Side& at = sides.at(side);
    if (!at.backend) continue;
    const std::vector<const Probe*> wanted = wanted_probes(asked, at.run.device);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const Probe* const probe = wanted[k];
      side_of.push_back(side);
      probes.push_back({.probe = probe,
                        .backend = at.backend.get(),
                        .budget = budget_of(*probe, asked, wanted.size()),
                        .request =
                            [&, side, probe] {
                              Request request = cli::request_for(*probe, asked);
                              request.known = known.at(side);
                              return request;
                            },
                        .group = k});
    }
  }
  std::optional<Engine> engine;
  const auto keep = [&](std::size_t probe) -> ProbeResult& {
    std::vector<ProbeResult>& results = sides.at(side_of[probe]).run.results;
    if (probes[probe].group >= results.size()) results.resize(probes[probe].group + 1);
    return results[probes[probe].group] = engine->result(probe);
  };
  Observer observer;
  observer.cancelled = live.cancelled;
  observer.progress = [&](std::size_t probe, double, double) {
    live.progress({.title = fmt::format("side {}: {}", side_of[probe] == 0 ? "A" : "B",
                                        probes[probe].probe->title)});
  };
  observer.pass_over = [&](std::size_t probe) {
    const ProbeResult& result = keep(probe);
    const std::size_t side = side_of[probe];
    if (engine->is_done(probe) && result.status == Status::failed) {
      live.say(fmt::format("{}: {}: {}; the other results are kept", sides.at(side).name,
                           result.probe, result.reason));
    }
    if (probes[probe].probe->learn != nullptr) probes[probe].probe->learn(result, known.at(side));
    live.save();
  };
  engine.emplace(probes, SchedulePolicy{.shares_run = false}, observer);
  engine->run();
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (engine->has_begun(i) && !engine->is_done(i)) keep(i);  // interrupted
  }
  for (Side& side : sides) conclude(side.run);
}

using system::is_interrupted;

/// Runs a live comparison, from the options to the exit code.
class LiveComparison {
 public:
  LiveComparison(const cli::Options& options, const std::vector<std::string>& arguments)
      : options_(options),
        arguments_(arguments),
        results_(options, [this](std::string_view message) { say(message); }) {
    observer_.say = [this](std::string_view message) { say(message); };
    observer_.progress = [this](const terminal::Progress& progress) {
      if (options_.verbosity >= 0) progress_.show(progress);
    };
    if (options.verbosity >= 0) progress_.keep_moving();
    observer_.cancelled = is_interrupted;
    observer_.save = [this] { save_runs(); };
    if (!options.runs_file.empty()) open_runs_file();
  }

  int run() {
    open_sides(options_, arguments_, observer_, sides_);
    results_.check_stdout();
    if (are_alike(options_, sides_)) {
      say("both sides are the same device in the same environment: any reported change is a false "
          "positive");
    }
    measure_once(options_, observer_, sides_);
    std::vector<RunDigest> digests = digest_sides();
    Comparison comparison = compare(digests, 0, options_.threshold);
    adopt_headlines(comparison, digests[1]);
    LivePasses passes(comparison, sides_, options_.threshold, observer_);
    const bool are_there = sides_[0].backend != nullptr && sides_[1].backend != nullptr;
    if (are_there) passes.run(alternating_time(options_.time_budget, spent()));
    conclude_runs();
    digests = update(std::move(digests));
    const bool is_repeatable = sides_[0].target.machine && sides_[1].target.machine;
    apply_alternation(comparison, passes.alternated(), is_repeatable);
    progress_.clear();
    const int written = results_.finish(comparison, digests);
    if (is_interrupted()) return exit_interrupted;
    if (written != exit_ok || !is_kept_) return exit_failed;
    const int checked = check_fail_on(options_.fail_on, comparison, digests);
    if (checked != exit_ok) return checked;
    return has_failed() ? exit_failed : exit_ok;
  }

 private:
  void open_runs_file() {
    try {
      runs_file_.emplace(options_.runs_file);
    } catch (const terminal::OutputError& error) {
      throw cli::UsageError(error.what());
    }
    for (const cli::Output& output : options_.outputs) {
      if (!runs_file_->replaces(output.path)) continue;
      throw cli::UsageError(fmt::format(
          "--runs and -o both name {}: write the runs to another file", quote(options_.runs_file)));
    }
    refuse_to_replace(*runs_file_, "--runs", input_files(options_));
  }

  void save_runs() {
    if (!runs_file_ || runs_file_->is_stream()) return;
    write_runs();
  }

  void write_runs() {
    try {
      runs_file_->commit(to_json(std::array{sides_[0].run, sides_[1].run}));
      is_kept_ = true;
    } catch (const terminal::OutputError& error) {
      if (is_kept_) say(error.what());
      is_kept_ = false;
    }
  }

  [[nodiscard]] std::vector<RunDigest> digest_sides() const {
    std::vector<RunDigest> digests;
    for (const Side& side : sides_) digests.push_back(digest(side.run, side.name));
    return digests;
  }

  /// The digests with the sides' status after alternating.
  [[nodiscard]] std::vector<RunDigest> update(std::vector<RunDigest> digests) const {
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const Run& run = sides_.at(i).run;
      digests[i].interrupted = run.interrupted;
      for (ComparedResult& compared : digests[i].results) {
        for (const ProbeResult& result : run.results) {
          if (result.probe != compared.probe) continue;
          compared.status = result.status;
          compared.reason = result.reason;
        }
      }
    }
    return digests;
  }

  /// The documents' findings follow from all of their samples.
  void conclude_runs() {
    for (Side& side : sides_) {
      side.run.interrupted = is_interrupted();
      analyse_again(side.run);
    }
    if (runs_file_) write_runs();
  }

  [[nodiscard]] std::chrono::duration<double> spent() const {
    return std::chrono::steady_clock::now() - began_;
  }

  [[nodiscard]] bool has_failed() const {
    for (const Side& side : sides_) {
      if (side.backend == nullptr) return true;
      for (const ProbeResult& result : side.run.results) {
        if (result.status == Status::failed) return true;
      }
    }
    return false;
  }

  void say(std::string_view message) {
    progress_.clear();
    terminal::complain(message);
  }

  const cli::Options& options_;
  const std::vector<std::string>& arguments_;
  std::chrono::steady_clock::time_point began_{std::chrono::steady_clock::now()};
  Results results_;
  terminal::ProgressLine progress_{STDERR_FILENO};
  LiveObserver observer_{};
  std::optional<terminal::OutputFile> runs_file_{};
  bool is_kept_{true};
  Sides sides_{};
};

}  // namespace

int compare_live(const cli::Options& options, const std::vector<std::string>& arguments) {
  system::watch_for_interrupts();
  try {
    return LiveComparison(options, arguments).run();
  } catch (const std::exception&) {
    if (is_interrupted()) return exit_interrupted;
    throw;
  }
}

}  // namespace clprobe::commands
