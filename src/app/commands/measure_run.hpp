// SPDX-License-Identifier: Apache-2.0
// Progress of a run. Pure.
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

/// The done share of a whole run by time: time spent, of that and the time left for all probes and
/// devices. It never falls, although probes alternate and add points.
class RunProgress {
 public:
  /// Begins a device with these times of its probes. Each device after it is assumed to take as
  /// long.
  void begin_device(std::vector<double> probe_seconds, std::size_t devices_after);
  /// Sets the time left for a probe, by its index; 0 when it is done.
  void set_left(std::size_t probe, double seconds);

  [[nodiscard]] double seconds_left() const;
  /// The share after `spent_seconds` of the run; below 1 while it is shown.
  double share(double spent_seconds);

 private:
  std::vector<double> left_{};
  double later_devices_{0.0};
  double share_{0.0};
};

/// "testing the clock" for "try-clock"; empty for requests that are not shown.
std::string_view activity_of(std::string_view question);

/// "global, 1 GiB": the series, and the size if the probe is drawn over bytes.
std::string describe_point(const Probe& probe, const Point& point);

/// Calls while a run is measured.
struct RunObserver {
  std::function<void(std::size_t probe)> done;  ///< a probe, by its place, is done
  std::function<void()> save;                   ///< the run has more to keep
};

/// Measures the probes until all are done or the observer cancels. Results go into `run` as they
/// come. Throws UsageError as known_levels().
void measure_run(const cli::Options& options, Backend& backend, Observer observer,
                 std::span<const Probe* const> probes, Run& run, const RunObserver& heard);

}  // namespace clprobe::commands
