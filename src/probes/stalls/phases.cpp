// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/phases.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/stacks.hpp"
#include "clprobe/statistics.hpp"
#include "probes/stalls/copy.hpp"
#include "probes/stalls/device.hpp"
#include "probes/stalls/stamps.hpp"

namespace clprobe::stalls {
namespace {

/// What a phase took by the group's own clock, in ns. Nothing where it was not seen to take time.
std::optional<Estimate> phase_of(const Points& points, std::string_view phase,
                                 const DeviceInfo& device) {
  for (const Point* const point : points) {
    if (point->parameters.text_or("phase", "") != phase || !point->failure.empty()) continue;
    return estimate(*point, device);
  }
  return std::nullopt;
}

struct PhaseTime {
  std::string_view label;
  Estimate time;
};

struct PhaseLabel {
  std::string_view phase;
  std::string_view label;
};

/// The phases that were measured.
std::vector<PhaseTime> times_of(const Points& points, const DeviceInfo& device,
                                std::span<const PhaseLabel> labels) {
  std::vector<PhaseTime> times;
  for (const PhaseLabel& each : labels) {
    if (const auto time = phase_of(points, each.phase, device)) {
      times.push_back({each.label, *time});
    }
  }
  return times;
}

/// The ticks of a phase in each sample, by iteration.
std::vector<double> ticks_of(const Points& points, std::string_view phase) {
  std::vector<double> ticks;
  for (const Point* const point : points) {
    if (point->parameters.text_or("phase", "") != phase || !point->failure.empty()) continue;
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

/// The time after a part's end, as a share of the span of all. That it is nothing is a result.
std::optional<Share> tail_of(const Points& points) {
  const std::vector<double> tail = ticks_of(points, phase_tail);
  const std::vector<double> span = ticks_of(points, phase_span);
  if (tail.empty() || span.empty() || !(median(span) > 0.0)) return std::nullopt;
  const auto share = [&](double ticks) { return std::min(ticks / median(span), 1.0); };
  return Share{share(median(tail)), {share(quantile(tail, 0.25)), share(quantile(tail, 0.75))}};
}

Finding part_of(std::string_view bar, std::string_view label, const Share& share) {
  Finding part = finding_of(stack_part_name, bar, "share", view_clock);
  part.label = label;
  part.value = share.value;
  part.low = share.interval.low;
  part.high = share.interval.high;
  return part;
}

/// The phases as shares of `least_all_ns`, or of their sum where that is more: they are of
/// different launches, of which a busy host delays some. They are of the time until a part's end,
/// and the tail comes behind it. What is left is the remainder.
void add_parts(std::string_view bar, std::span<const PhaseTime> times, double least_all_ns,
               const Points& points, const DeviceInfo& device, std::vector<Finding>& findings) {
  double all_ns = 0.0;
  for (const PhaseTime& each : times) all_ns += each.time.ns;
  all_ns = std::max(all_ns, least_all_ns);
  const std::optional<Share> tail = tail_of(points);
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
  Finding rest = finding_of(stack_part_name, bar, "share", view_clock);
  rest.label = remainder;
  rest.value = 1.0 - seen;
  if (std::abs(*rest.value) > 1e-6) findings.push_back(std::move(rest));
}

/// Of a phase whose every iteration has a pair of clock reads in it.
std::optional<Estimate> paired_phase_of(const Points& points, std::string_view phase,
                                        const DeviceInfo& device) {
  std::vector<double> times = ticks_of(points, phase);
  if (times.empty() || !(device.clock.ticks_per_ns > 0.0)) return std::nullopt;
  for (double& each : times) {
    each = std::max(0.0, each - static_cast<double>(device.clock.overhead_ticks)) /
           device.clock.ticks_per_ns;
  }
  return Estimate{median(times), {quantile(times, 0.25), quantile(times, 0.75)}, {}};
}

}  // namespace

Finding finding_of(std::string_view name, std::string_view series, std::string_view unit,
                   std::string_view method) {
  Finding finding;
  finding.name = name;
  finding.series = series;
  finding.unit = unit;
  finding.method = method;
  return finding;
}

Finding without_value(std::string_view name, std::string_view series, std::string_view method,
                      std::string reason) {
  Finding finding = finding_of(name, series, "share", method);
  finding.reason = std::move(reason);
  return finding;
}

Finding time_of(std::string_view series, const Cost& cost, std::string_view method) {
  Finding time = finding_of(stack_time_name, series, "seconds", method);
  time.value = cost.ns / ns_per_second;
  time.low = cost.interval.low / ns_per_second;
  time.high = cost.interval.high / ns_per_second;
  return time;
}

void add_micro_phases(std::string_view bar, const Points& points, const DeviceInfo& device,
                      std::vector<Finding>& findings) {
  const auto waited = paired_phase_of(points, phase_barrier, device);
  const auto all = paired_phase_of(points, phase_all, device);
  std::vector<PhaseTime> times;
  if (waited && all && all->ns > 0.0) times.push_back({"synchronization: barrier", *waited});
  add_parts(bar, times, times.empty() ? 0.0 : all->ns, points, device, findings);
}

void add_copy_phases(std::string_view bar, const Points& points, const DeviceInfo& device,
                     std::vector<Finding>& findings) {
  const bool has_phases = std::any_of(points.begin(), points.end(),
                                      [](const Point* point) { return is_phase(*point); });
  if (!has_phases) return;
  const auto started = phase_of(points, "start", device);
  const auto waited = phase_of(points, "copy", device);
  const bool is_async = bar == all_copies[1];
  const bool is_pending = is_async && waited && (!started || waited->ns > started->ns);
  const std::vector<PhaseLabel> labels{{"start", "memory data: copy to local memory, start"},
                                       {"copy", is_pending ? "memory structural: pending copy"
                                                           : "memory data: copy to local memory"},
                                       {"work", "no stall: work on local memory"},
                                       {"copy back", "memory data: copy back"}};
  add_parts(bar, times_of(points, device, labels), 0.0, points, device, findings);
  if (!is_async) return;
  Finding engine = finding_of("copy engine", bar, "", view_clock);
  engine.label = is_pending ? "waited for" : "emulated";
  engine.reason = is_pending ? "the wait for a copy takes longer than its start"
                             : "the copy is made while it is started, and nothing is pending";
  findings.push_back(std::move(engine));
}

void add_search(std::string_view bar, const Points& points, const DeviceInfo& device,
                std::vector<Finding>& findings) {
  constexpr PhaseLabel labels[]{{"lock", "synchronization: lock"},
                                {"queue", "memory data: queue"},
                                {"nodes", "no stall: nodes"},
                                {"nothing to do", "idle: no work"}};
  for (const Point* const point : points) {
    if (is_phase(*point) || !point->failure.empty()) continue;
    if (const auto time = estimate(*point, device)) {
      Cost cost;
      cost.ns = time->ns;
      cost.interval = time->ns_interval;
      findings.push_back(time_of(bar, cost, "median"));
    }
  }
  const auto all = phase_of(points, "all", device);
  if (all) {
    add_parts(bar, times_of(points, device, labels), all->ns, points, device, findings);
    return;
  }
  findings.push_back(without_value(stack_part_name, bar, view_clock,
                                   "only a clock in the kernel tells waiting from work"));
}

}  // namespace clprobe::stalls
