// SPDX-License-Identifier: Apache-2.0
// Measurement of the probes of a device into a run, and the progress of the measurement.
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

/// Completed share of a run: the time spent, divided by the sum of the time spent and the estimated
/// time left for all probes and devices. The share never decreases, even when a probe adds points.
class RunProgress {
 public:
  /// Begins a device. `probe_seconds`: expected time of each probe in seconds. Each of the
  /// `devices_after` later devices is assumed to take as long as this device.
  void begin_device(std::vector<double> probe_seconds, std::size_t devices_after);
  /// Sets the estimated time left for the probe with index `probe`, 0 when that probe is done.
  void set_left(std::size_t probe, double seconds);

  [[nodiscard]] double seconds_left() const;
  /// Returns the completed share, below 1, when the run has taken `spent_seconds`.
  double share(double spent_seconds);

 private:
  std::vector<double> left_{};
  double later_devices_{0.0};
  double share_{0.0};
};

/// Returns the text that shows a request to the driver: "testing the clock" for "try-clock"; empty
/// for requests that are not shown.
std::string_view activity_of(std::string_view question);

/// Returns the series of a point and, for a probe whose x axis is a size, the size: "global, 1
/// GiB".
std::string describe_point(const Probe& probe, const Point& point);

/// Functions that are called while a run is measured.
struct RunObserver {
  std::function<void(std::size_t probe)> done;  ///< called when the probe with this index is done
  std::function<void()> save;  ///< called when the run has new results, at most every 4 s
};

/// Measures the probes and stores the results in `run`, until all probes are done or the observer
/// cancels. Throws UsageError in the cases of known_levels().
void measure_run(const cli::Options& options, Backend& backend, Observer observer,
                 std::span<const Probe* const> probes, Run& run, const RunObserver& run_observer);

}  // namespace clprobe::commands
