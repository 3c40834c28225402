// SPDX-License-Identifier: Apache-2.0
// By how much what changed while a run lasted widens the interval of a finding. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "clprobe/run.hpp"

namespace clprobe {

/// What timed the points behind a finding: the clock in the kernel, whole launches, or both.
struct TimedBy {
  bool clock{false};
  bool launches{false};
};

/// The same of each series of a result; of all of them for findings whose series has no points of
/// its own.
class SeriesTimers {
 public:
  SeriesTimers(const ProbeResult& result, const DeviceInfo& device);

  [[nodiscard]] const TimedBy& of(std::string_view series) const;

 private:
  std::map<std::string, TimedBy, std::less<>> by_series_{};
  TimedBy all_{};
};

/// Half a 95 % interval, on the line on which findings are compared (logarithms; of shares
/// themselves), of what changed while the run lasted: as the reference points saw it, and of what
/// all cores do together, by what others took of them all along.
double disturbance_of(const Finding& finding, const ProbeResult& result, const TimedBy& timed,
                      const DeviceInfo& device, std::span<const Disturbance> disturbances);

}  // namespace clprobe
