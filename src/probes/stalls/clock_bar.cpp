// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "clprobe/stacks.hpp"
#include "probes/shared/finding.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/stamps.hpp"

namespace clprobe::stalls {
namespace {

/// The ticks of a phase in each sample, by iteration.
std::vector<double> ticks_of(const Points& points, std::string_view phase) {
  std::vector<double> ticks;
  for (const Point* const point : points) {
    if (phase_of(*point) != phase || !point->failure.empty()) continue;
    for (const Sample& sample : point->samples) {
      if (!sample.ticks || sample.accesses == 0) continue;
      ticks.push_back(static_cast<double>(*sample.ticks) / static_cast<double>(sample.accesses));
    }
  }
  return ticks;
}

/// Of a whole, with its quartiles.
struct Share {
  double value{0.0};
  Interval interval{};
};

/// The time after a part's end, as a share of the span of all: in the mean, or of the part that
/// ended first. That it is nothing is a result.
std::optional<Share> tail_of(const Points& points, std::string_view phase) {
  const std::vector<double> tail = ticks_of(points, phase);
  const std::vector<double> span = ticks_of(points, phase_span);
  if (tail.empty() || span.empty() || !(median(span) > 0.0)) return std::nullopt;
  const auto share = [&](double ticks) { return std::min(ticks / median(span), 1.0); };
  return Share{share(median(tail)), {share(quantile(tail, 0.25)), share(quantile(tail, 0.75))}};
}

Finding part_of(std::string_view bar, std::string_view label, const Share& share) {
  Finding part = finding_of(stack_part_name, bar, "share", stack_view_clock);
  part.label = label;
  part.value = share.value;
  part.low = share.interval.low;
  // The slowest sample of a phase may be longer than the usual whole.
  part.high = std::min(share.interval.high, 1.0);
  return part;
}

}  // namespace

std::string phase_of(const Point& point) { return point.parameters.text_or("phase", ""); }

Finding time_finding(std::string_view bar, double ns, const Interval& interval,
                     std::string_view method) {
  Finding time = finding_of(stack_time_name, bar, "seconds", method);
  time.value = ns / ns_per_second;
  time.low = interval.low / ns_per_second;
  time.high = interval.high / ns_per_second;
  return time;
}

std::optional<Finding> cpu_time_finding(std::string_view bar, const Point& point,
                                        const DeviceInfo& device) {
  if (!runs_items_in_turn(device)) return std::nullopt;
  const std::optional<Estimate> best = estimate_of_best(point, device);
  if (!best) return std::nullopt;
  return time_finding(bar, best->ns, best->ns_interval, "best visits");
}

std::optional<Estimate> phase_time(const Points& points, std::string_view phase,
                                   const DeviceInfo& device) {
  for (const Point* const point : points) {
    if (phase_of(*point) != phase || !point->failure.empty()) continue;
    return estimate(*point, device);
  }
  return std::nullopt;
}

std::vector<PhaseTime> phase_times(const Points& points, const DeviceInfo& device,
                                   std::span<const PhaseLabel> labels) {
  std::vector<PhaseTime> times;
  for (const PhaseLabel& each : labels) {
    if (const auto time = phase_time(points, each.phase, device)) {
      times.push_back({each.label, *time});
    }
  }
  return times;
}

void add_clock_parts(std::string_view bar, std::span<const PhaseTime> times, double min_all_ns,
                     const Points& points, const DeviceInfo& device,
                     std::vector<Finding>& findings) {
  double all_ns = 0.0;
  for (const PhaseTime& each : times) all_ns += each.time.ns;
  all_ns = std::max(all_ns, min_all_ns);
  const std::optional<Share> tail = tail_of(points, phase_tail);
  if (!(all_ns > 0.0) && !tail) return;
  const double before_tail = tail ? 1.0 - tail->value : 1.0;
  double seen = 0.0;
  for (const PhaseTime& each : times) {
    const double scale = before_tail / all_ns;
    findings.push_back(
        part_of(bar, each.label,
                {each.time.ns * scale,
                 {each.time.ns_interval.low * scale, each.time.ns_interval.high * scale}}));
    seen += *findings.back().value;
  }
  if (tail) {
    findings.push_back(
        part_of(bar, has_shared_clock(device) ? "idle: tail" : "idle: tail within groups", *tail));
    seen += tail->value;
  }
  if (const auto longest = tail_of(points, phase_longest_tail)) {
    findings.push_back(finding_of(longest_tail_name, bar, "share", stack_view_clock, longest->value,
                                  longest->interval.low, longest->interval.high));
  }
  Finding rest = finding_of(stack_part_name, bar, "share", stack_view_clock);
  rest.label = stack_remainder;
  rest.value = 1.0 - seen;
  if (std::abs(*rest.value) > 1e-6) findings.push_back(std::move(rest));
}

std::optional<Estimate> paired_phase_time(const Points& points, std::string_view phase,
                                          const DeviceInfo& device) {
  std::vector<double> times = ticks_of(points, phase);
  if (times.empty() || !(device.clock.ticks_per_ns > 0.0)) return std::nullopt;
  for (double& each : times) {
    each = std::max(0.0, each - static_cast<double>(device.clock.overhead_ticks)) /
           device.clock.ticks_per_ns;
  }
  return Estimate{median(times), {quantile(times, 0.25), quantile(times, 0.75)}, {}};
}

}  // namespace clprobe::stalls
