// SPDX-License-Identifier: Apache-2.0
// How far a run is, and what goes on. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"

namespace clprobe::commands {

/// The share of a whole run by time: what was spent, of that and what is left of all probes and
/// devices. Probes take turns and find more to do; the share never falls all the same.
class RunProgress {
 public:
  /// A device with so many seconds for each of its probes, and so many devices after it, which are
  /// taken to need as long.
  void begin_device(std::vector<double> probe_seconds, std::size_t devices_after);
  /// What the probe of that place still needs; 0 when it is done.
  void set_left(std::size_t probe, double seconds);

  [[nodiscard]] double seconds_left() const;
  /// `spent` is of the run. 1 is never reached: who shows it is not done.
  double share(double spent_seconds);

 private:
  std::vector<double> left_{};
  double later_devices_{0.0};
  double share_{0.0};
};

/// "trying the clock" for "try-clock"; empty for what is not told.
std::string_view activity_of(std::string_view question);

/// "global, 1 GiB": the series, and where the probe draws over bytes, how many.
std::string describe_point(const Probe& probe, const Point& point);

}  // namespace clprobe::commands
