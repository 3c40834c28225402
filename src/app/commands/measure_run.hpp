// SPDX-License-Identifier: Apache-2.0
// Measurement of the probes of one device into a run, and its progress.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "measure/api/engine.hpp"

namespace clprobe::commands {

/// Completed share of a run by time: time spent, divided by that and the estimated time left for
/// all probes and devices. The share never decreases, although probes alternate and add points.
class RunProgress {
 public:
  /// Begins a device with the expected times of its probes. Later devices are assumed to take as
  /// long.
  void begin_device(std::vector<double> probe_seconds, std::size_t devices_after);
  /// Sets the time left for a probe, by its index; 0 when it is done.
  void set_left(std::size_t probe, double seconds);

  [[nodiscard]] double seconds_left() const;
  /// Returns the share after `spent_seconds` of the run, below 1.
  double share(double spent_seconds);

 private:
  std::vector<double> left_{};
  double later_devices_{0.0};
  double share_{0.0};
};

/// Returns the text of a request, such as "testing the clock" for "try-clock"; empty for requests
/// that are not shown.
std::string_view activity_of(std::string_view question);

/// Returns the series and, for probes plotted over bytes, the size: "global, 1 GiB".
std::string describe_point(const Probe& probe, const Point& point);

/// Callbacks while a run is measured.
struct RunObserver {
  std::function<void(std::size_t probe)> done;  ///< called when a probe (its index) is done
  std::function<void()> save;                   ///< called when the run has more results
};

/// Measures the probes into `run` until all are done or the observer cancels. Throws UsageError as
/// known_levels().
void measure_run(const cli::Options& options, Backend& backend, Observer observer,
                 std::span<const Probe* const> probes, Run& run, const RunObserver& run_observer);

}  // namespace clprobe::commands
