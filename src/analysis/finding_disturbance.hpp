// SPDX-License-Identifier: Apache-2.0
// By how much what changed while a run lasted widens the interval of a finding. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"

namespace clprobe {

/// What timed the points behind a finding: the clock in the kernel, whole launches, or both.
struct TimedBy {
  bool clock{false};
  bool launches{false};
  bool is_own{false};       ///< of points of the finding's own series
  bool is_best{false};      ///< by the best of a point's many visits, to which others only add
  bool is_one_unit{false};  ///< of what one unit does while the others idle
};

/// The same of each series of a result ("load-throughput", of findings also "load-throughput 4 B");
/// of all of them for findings whose series has no points of its own.
class SeriesTimers {
 public:
  SeriesTimers(const ProbeResult& result, const DeviceInfo& device);

  /// Where both timed points of its series, that of those which took as long as the finding says.
  [[nodiscard]] TimedBy of(const Finding& finding) const;

 private:
  struct TimedPoint {
    double seconds{0.0};
    bool is_clock{false};
    bool is_best{false};
    bool is_one_unit{false};
  };

  std::map<std::string, std::vector<TimedPoint>, std::less<>> by_series_{};
  TimedBy all_{};
};

/// What is known of a run besides its findings.
struct Meanwhile {
  std::span<const Disturbance> disturbances{};  ///< by its reference points
  bool is_virtual_cpu{false};                   ///< whether it is one of a CPU in a virtual machine
};

Meanwhile meanwhile_of(const Run& run, std::span<const Disturbance> disturbances);

/// Half a 95 % interval, on the line on which findings are compared (logarithms; of shares
/// themselves), of what changed while the run lasted: as the reference points saw it, and of what
/// all cores do together, by what others took of them all along; and of what is otherwise in the
/// next process, as pages lie.
double disturbance_of(const Finding& finding, const ProbeResult& result, const TimedBy& timed,
                      const DeviceInfo& device, const Meanwhile& meanwhile);

}  // namespace clprobe
