// SPDX-License-Identifier: Apache-2.0
#include "import/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    at.refuse("expected a size from 1 to 10^18 bytes and a latency up to 10^15 ns");
  }
  Point point;
  point.series = series;
  point.parameters.set("working_set_bytes", static_cast<std::int64_t>(whole));
  point.facts.set(imported_ns, ns);
  return point;
}

void expect_loads(const std::vector<Point>& points, int line) {
  constexpr double max_first_ns = 2e3;
  constexpr double max_last_ns = 2e4;
  constexpr double proportional = 0.7;
  constexpr double min_span = 8.0;
  constexpr std::size_t min_slopes = 4;
  const auto bytes = [](const Point& point) {
    return static_cast<double>(point.parameters.integer("working_set_bytes"));
  };
  const auto ns = [](const Point& point) { return *number_in(point.facts, imported_ns); };
  std::vector<Point> sorted = points;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Point& a, const Point& b) { return bytes(a) < bytes(b); });
  std::size_t steep = 0;
  std::size_t slopes = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double step = std::log(bytes(sorted[i]) / bytes(sorted[i - 1]));
    if (step <= 0.0) continue;
    ++slopes;
    if (std::log(ns(sorted[i]) / ns(sorted[i - 1])) / step > proportional) ++steep;
  }
  const bool is_proportional = slopes >= min_slopes && 2 * steep > slopes &&
                               bytes(sorted.back()) >= min_span * bytes(sorted.front());
  const bool is_short = ns(sorted.front()) <= max_first_ns && ns(sorted.back()) <= max_last_ns;
  if (is_short && !is_proportional) return;
  throw RunFormatError(fmt::format(
      "line {}: {:.4g} us at the smallest size and {:.4g} us at the largest are times of copies or "
      "of whole loops, not latencies of loads: give the time of one load",
      line, ns(sorted.front()) / 1e3, ns(sorted.back()) / 1e3));
}

void set_clock(Run& run, double hertz) {
  Clock& clock = run.device.clock;
  clock.rate = ClockRate::core_cycles;
  clock.ticks_per_ns = hertz / ns_per_second;
  clock.ticks_per_ns_low = clock.ticks_per_ns;
  clock.ticks_per_ns_high = clock.ticks_per_ns;
}

}  // namespace clprobe::import
