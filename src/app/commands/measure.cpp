// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "app/commands/analyse_again.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/devices.hpp"
#include "app/commands/measure_run.hpp"
#include "app/commands/plan.hpp"
#include "app/commands/provenance.hpp"
#include "app/commands/results.hpp"
#include "app/commands/stored_runs.hpp"
#include "app/terminal/output.hpp"
#include "app/terminal/terminal.hpp"
#include "clprobe/registry.hpp"
#include "measure/api/engine.hpp"
#include "system/api/processes.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

using system::is_interrupted;

std::vector<double> probe_seconds(const std::vector<const Probe*>& probes,
                                  const cli::Options& options) {
  std::vector<double> seconds;
  seconds.reserve(probes.size());
  for (const Probe* const probe : probes) {
    seconds.push_back(expected_seconds(budget_of(*probe, options, probes.size())));
  }
  return seconds;
}

class Measurement {
 public:
  Measurement(const cli::Options& options, const std::vector<std::string>& arguments)
      : options_(options),
        arguments_(arguments),
        results_(options, [this](std::string_view message) { say(message); }) {
    // Redraws the progress line also while a driver works for seconds.
    if (options.verbosity >= 0) progress_.keep_moving();
  }

  int run() {
    measure_targets();
    progress_.clear();
    conclude_run();
    // After an interrupt without results, existing files are not replaced.
    if (runs_.empty() && is_interrupted()) return exit_interrupted;
    const int written = results_.finish(runs_);
    if (is_interrupted()) return exit_interrupted;
    return any_failed_ || is_ill(options_, runs_) ? exit_failed : written;
  }

 private:
  void measure_targets() {
    Devices devices(options_, [this](std::string_view line) { say(line); });
    devices.settings().asking = [this](std::string_view question) {
      question_ = question;
      tell();
    };
    if (!options_.device.starts_with("sim:")) show({.title = "looking for devices"});
    const std::vector<Target> targets = devices.select(options_.device);
    // The requests for all devices are checked before the first device is measured, so that an
    // error loses no results.
    for (const Target& target : targets) {
      check_requests(options_, target.info);
      static_cast<void>(known_levels(options_, target.info));
    }
    expect_labels(options_.labels, targets.size());
    results_.check_stdout();
    devices_after_ = targets.size();
    for (const Target& target : targets) {
      if (is_interrupted()) break;
      --devices_after_;
      open_and_measure(target, devices);
    }
  }

  void open_and_measure(const Target& target, Devices& devices) {
    const std::string& name = target.info.name;
    progress_.clear();  // clears the progress of the previous device
    point_.clear();
    show({.title = fmt::format("trying {}", name)});
    try {
      closing_ = {};  // waits for the previous device's driver, whose shutdown would disturb the
                      // measurement
      std::unique_ptr<Backend> backend = devices.open(target);
      measure_device(*backend);
      if (target.machine) return;  // simulated devices have no driver
      // The driver ends in another thread while the results are written, since a GPU's driver takes
      // 0.1 s to end.
      closing_ =
          std::async(std::launch::async, [ended = std::move(backend)]() mutable { ended.reset(); });
    } catch (const DeviceError& error) {
      if (is_interrupted()) return;
      // The remaining devices are still measured, and the run document reports the failure.
      Run& run = begin_run(target.info);
      run.warnings.push_back({"device_failed", {{"reason", std::string(error.what())}}});
      any_failed_ = true;
      say(fmt::format("{}: {}", quote(name), error.what()));
    }
  }

  void measure_device(Backend& backend) {
    Run& run = begin_run(backend.device());
    run.warnings = backend.warnings();
    const std::vector<const Probe*> probes = wanted_probes(options_, backend.device());
    Observer observer;
    how_far_.begin_device(probe_seconds(probes, options_), devices_after_);
    observer.cancelled = is_interrupted;
    observer.visiting = [&](std::size_t probe, const Point& point) {
      point_ = describe_point(*probes[probe], point);
      question_.clear();
      tell();
      show_share(*probes[probe]);
    };
    observer.progress = [&](std::size_t probe, double /*share of its points*/, double left) {
      how_far_.set_left(probe, left);
      show_share(*probes[probe]);
    };
    const auto done = [&](std::size_t probe) {
      how_far_.set_left(probe, 0.0);
      say_if_failed(run.results[probe]);
    };
    const auto save = [this] { results_.save(runs_); };
    measure_run(options_, backend, observer, probes, run, {done, save});
  }

  void show(const terminal::Progress& progress) {
    if (options_.verbosity >= 0) progress_.show(progress);
  }

  void show_share(const Probe& probe) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
    show({.title = std::string(probe.title),
          .done_share = how_far_.share(spent.count()),
          .seconds_left = how_far_.seconds_left()});
  }

  /// Shows the activity in the progress line: "preparing global, 1 GiB", or "testing the clock"
  /// before the first point.
  void tell() {
    const std::string_view activity = activity_of(question_);
    const std::string_view space = activity.empty() || point_.empty() ? "" : " ";
    progress_.tell(fmt::format("{}{}{}", activity, space, point_));
  }

  void say_if_failed(const ProbeResult& result) {
    if (result.status != Status::failed) return;
    any_failed_ = true;
    // The failure is also reported on stderr, since stdout may be redirected.
    say(fmt::format("{}: {}; the other results are kept", result.probe, result.reason));
  }

  void conclude_run() {
    if (!runs_.empty()) runs_.back().interrupted = is_interrupted();
  }

  Run& begin_run(const DeviceInfo& device) {
    conclude_run();
    Run run = new_run(options_, arguments_);
    if (runs_.size() < options_.labels.size()) run.label = options_.labels[runs_.size()];
    run.labels = options_.places;
    const bool has_slot = run.labels.find("slot") != nullptr;
    if (run.labels.find("node") != nullptr && !has_slot) {
      run.labels.set("slot", std::to_string(runs_.size()));
    }
    run.device = device;
    runs_.push_back(std::move(run));
    return runs_.back();
  }

  void say(std::string_view message) {
    progress_.clear();
    terminal::complain(message);
  }

  const cli::Options& options_;
  const std::vector<std::string>& arguments_;
  Results results_;
  terminal::ProgressLine progress_{STDERR_FILENO};
  std::vector<Run> runs_{};
  bool any_failed_{false};

  std::chrono::steady_clock::time_point began_{std::chrono::steady_clock::now()};
  RunProgress how_far_{};
  std::size_t devices_after_{0};  ///< number of devices after the present one
  std::future<void> closing_{};   ///< shutdown of the previous device's driver
  std::string question_{};        ///< present request to the driver
  std::string point_{};           ///< point that the driver prepares or measures
};

}  // namespace

int measure(const cli::Options& options, const std::vector<std::string>& arguments) {
  system::watch_for_interrupts();
  try {
    if (options.dry_run) return show_plan(options);
    return Measurement(options, arguments).run();
  } catch (const std::exception&) {
    // An error after an interrupt is a consequence of the interrupt, and is not reported.
    if (is_interrupted()) return exit_interrupted;
    throw;
  }
}

}  // namespace clprobe::commands
