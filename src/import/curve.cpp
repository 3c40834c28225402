// SPDX-License-Identifier: Apache-2.0
#include "import/curve.hpp"

#include <cmath>

#include "clprobe/estimate.hpp"

namespace clprobe::import {

std::string series_or(const ImportHints& hints, std::string_view otherwise) {
  return hints.series.empty() ? std::string(otherwise) : hints.series;
}

Point latency_point(std::string_view series, double bytes, double ns, const Lines& at) {
  constexpr double max_bytes = 1e18;
  constexpr double max_ns = 1e15;
  const double whole = std::round(bytes);
  if (whole < 1.0 || whole > max_bytes || ns > max_ns) {
    at.refuse("expected a size from 1 byte to 10^18 and a latency below a week");
  }
  Point point;
  point.series = series;
  point.parameters.set("working_set_bytes", static_cast<std::int64_t>(whole));
  point.facts.set(imported_ns, ns);
  return point;
}

void set_clock(Run& run, double hertz) {
  Clock& clock = run.device.clock;
  clock.rate = ClockRate::core_cycles;
  clock.ticks_per_ns = hertz / ns_per_second;
  clock.ticks_per_ns_low = clock.ticks_per_ns;
  clock.ticks_per_ns_high = clock.ticks_per_ns;
}

}  // namespace clprobe::import
