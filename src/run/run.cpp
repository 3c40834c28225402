// SPDX-License-Identifier: Apache-2.0
#include "clprobe/run.hpp"

#include <algorithm>
#include <cmath>

namespace clprobe {

Bytes reported_cache(const DeviceInfo& device) {
  const std::int64_t bytes = device.reported.integer_or("cache_bytes", 0);
  return {static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes))};
}

bool runs_at_full_clock(const DeviceInfo& device, double ticks_per_ns) {
  constexpr double nearly = 0.98;
  if (device.clock.rate != ClockRate::core_cycles) return false;
  const std::int64_t max_mhz = device.reported.integer_or("max_clock_mhz", 0);
  return max_mhz > 0 && 1e3 * ticks_per_ns >= nearly * static_cast<double>(max_mhz);
}

bool is_sane(double number) {
  const double magnitude = std::fabs(number);
  return magnitude == 0.0 || (magnitude >= min_magnitude && magnitude <= max_magnitude);
}

Better usual_direction(std::string_view unit) {
  if (unit == "seconds" || unit == "cycles") return Better::less;
  const bool is_rate = unit == "bytes_per_second" || unit == "bytes_per_cycle" ||
                       unit == "operations_per_second" || unit == "operations_per_cycle" ||
                       unit == "hertz";
  return is_rate ? Better::more : Better::unknown;
}

}  // namespace clprobe
