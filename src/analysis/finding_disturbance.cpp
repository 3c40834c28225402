// SPDX-License-Identifier: Apache-2.0
#include "analysis/finding_disturbance.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/finding_error.hpp"
#include "clprobe/disturbance.hpp"
#include "clprobe/estimate.hpp"
#include "clprobe/point_facts.hpp"
#include "clprobe/stacks.hpp"
#include "clprobe/statistics.hpp"

namespace clprobe {

SeriesTimers::SeriesTimers(const ProbeResult& result, const DeviceInfo& device) {
  for (const Point& point : result.points) {
    const bool is_clock = timer_of(point, device) == Timer::clock;
    const bool is_often = point.facts.find(visited_often) != nullptr;
    const std::optional<Estimate> time =
        is_often ? estimate_of_best(point, device) : estimate(point, device);
    by_series_[point.series].push_back({.seconds = time ? time->ns / ns_per_second : 0.0,
                                        .is_clock = is_clock,
                                        .is_best = time && is_often && time->holds_visits,
                                        .is_one_unit = point.facts.find(of_one_unit) != nullptr});
    (is_clock ? all_.clock : all_.launches) = true;
  }
}

TimedBy SeriesTimers::of(const Finding& finding) const {
  constexpr double near = 0.05;
  const auto points = by_series_.find(finding.series);
  const auto kind = by_series_.find(finding.series.substr(0, finding.series.find(' ')));
  const auto own = points == by_series_.end() ? kind : points;
  if (own == by_series_.end()) return all_;
  const bool is_one_unit = std::any_of(own->second.begin(), own->second.end(),
                                       [](const TimedPoint& each) { return each.is_one_unit; });
  TimedBy timed{.is_own = true, .is_one_unit = is_one_unit};
  TimedBy as_long = timed;
  const double seconds = finding.unit == "seconds" ? finding.value.value_or(0.0) : 0.0;
  for (const TimedPoint& each : own->second) {
    (each.is_clock ? timed.clock : timed.launches) = true;
    const bool is_near = std::fabs(each.seconds - seconds) <= near * seconds;
    if (!is_near) continue;
    (each.is_clock ? as_long.clock : as_long.launches) = true;
    as_long.is_best = as_long.is_best || each.is_best;
  }
  return as_long.clock || as_long.launches ? as_long : timed;
}

namespace {

/// How long an access, a byte, an operation or a cycle takes by a finding that is a time or a rate
/// above 0.
struct FoundTime {
  double seconds{0.0};
  bool is_rate{false};
};

std::optional<FoundTime> time_in(const Finding& finding, const DeviceInfo& device) {
  if (!finding.value || !(*finding.value > 0.0)) return std::nullopt;
  const double ticks_per_second = device.clock.ticks_per_ns * ns_per_second;
  if (finding.unit == "seconds") return FoundTime{*finding.value, false};
  if (finding.unit == "bytes_per_second" || finding.unit == "operations_per_second") {
    return FoundTime{1.0 / *finding.value, true};
  }
  // One core's, as a chain of loads that the nearest cache holds.
  if (finding.unit == "hertz") return FoundTime{1.0 / *finding.value, false};
  if (!(ticks_per_second > 0.0)) return std::nullopt;
  if (finding.unit == "cycles") return FoundTime{*finding.value / ticks_per_second, false};
  if (finding.unit == "bytes_per_cycle" || finding.unit == "operations_per_cycle") {
    return FoundTime{1.0 / (*finding.value * ticks_per_second), true};
  }
  return std::nullopt;
}

/// Whether times are those of one core or unit each, whatever all of them do: the others idle, a
/// clock in the kernel told them alone, or, where a device has none, the probe's references are
/// chains of loads.
bool is_of_one_core(const ProbeResult& result, const TimedBy& timed) {
  if (timed.is_one_unit) return true;
  if (timed.clock && !timed.launches) return true;
  return result.unit == Unit::seconds && !result.references.empty();
}

/// What changed while the run lasted, of what a finding depends on: what is no core's time all
/// units may have made together, as they make a rate.
double changed_meanwhile(const FoundTime& time, bool is_of_core,
                         std::span<const Disturbance> disturbances) {
  if (!is_of_core && !time.is_rate) return typical_disturbance(disturbances);
  return disturbance_at(disturbances, time.seconds, time.is_rate);
}

double changed_meanwhile(const Finding& finding, std::span<const Disturbance> disturbances) {
  if (!finding.value || !is_share(finding)) return 0.0;
  // A part p of a time grows with that part's own change d to p (1 + d) / (1 + p d): by p (1 - p)
  // d.
  const double widest = max_disturbance(disturbances);
  // Noise is followed until a kernel takes several times as long, and the line of these times is
  // drawn back to none: what a change d does to one of them comes back as some 2 d.
  constexpr double drawn_back = 2.0;
  if (finding.name == stack_absorbed_name) return drawn_back * widest;
  const double part = std::clamp(*finding.value, 0.0, 1.0);
  return part * (1.0 - part) * widest;
}

/// What others did to a finding who had the share s of a CPU's cores all along, which no reference
/// sees: work of all cores takes up to 1 / (1 - s) times as long. What one core took is that of a
/// core which nobody disturbed.
double disturbed_by_others(const FoundTime& time, bool is_of_core, const ProbeResult& result) {
  constexpr double max_share = 0.95;
  if (is_of_core && !time.is_rate) return 0.0;
  return -std::log1p(-std::min(result.others_share, max_share));
}

/// What a process has of a level behind the first one as its pages lie, for as long as it lives: no
/// moment of a run sees the others. An EPYC's second level took 4.77, 4.93 or 5.04 ns in a virtual
/// machine, which has no say in where they lie: with so much runs of 6 s hold the truth there.
double by_pages(const Finding& finding, const Meanwhile& meanwhile) {
  constexpr double luck = 0.05;
  const bool is_behind = finding.level.value_or(1) > 1;
  const bool is_known = !meanwhile.disturbances.empty();
  return meanwhile.is_virtual_cpu && is_behind && is_known ? luck : 0.0;
}

bool is_of_virtual_cpu(const Run& run) {
  return run.host.is_virtual && run.device.type == DeviceType::cpu;
}

}  // namespace

Meanwhile meanwhile_of(const Run& run, std::span<const Disturbance> disturbances) {
  return {.disturbances = disturbances, .is_virtual_cpu = is_of_virtual_cpu(run)};
}

double disturbance_of(const Finding& finding, const ProbeResult& result, const TimedBy& timed,
                      const DeviceInfo& device, const Meanwhile& meanwhile) {
  const std::span<const Disturbance> disturbances = meanwhile.disturbances;
  const bool is_of_core = is_of_one_core(result, timed);
  std::optional<FoundTime> time = time_in(finding, device);
  if (!time) return changed_meanwhile(finding, disturbances);
  // How many bytes a core moves in the time that its clock told: no stream of all of them.
  const bool is_told_by_core = is_of_core && timed.is_own && result.unit == Unit::seconds;
  if (is_told_by_core || timed.is_one_unit) time->is_rate = false;
  const double changed = changed_meanwhile(*time, is_of_core || timed.is_best, disturbances);
  // A stream of one unit is of many loads at once, so that no chain of loads takes as long.
  const double of_any_chain = timed.is_one_unit ? max_disturbance(disturbances, false) : 0.0;
  const double seen =
      std::max({changed, of_any_chain, disturbed_by_others(*time, is_of_core, result)});
  return time->is_rate ? seen : std::hypot(seen, by_pages(finding, meanwhile));
}

namespace {

/// Where differences are held on a line of differences: of shares, and of what may be 0.
bool is_of_differences(const Finding& finding) {
  return is_share(finding) || !finding.part_of.empty() || !(*finding.value > 0.0);
}

/// A distance from the value, of which an independent one is added, or (`sign` -1) taken away
/// again.
double combined(double distance, double other, double sign) {
  return std::sqrt(std::max(0.0, distance * distance + sign * other * other));
}

void move_ends(Finding& finding, double half_width, double sign) {
  const double value = *finding.value;
  const bool is_difference = is_of_differences(finding);
  // What makes all of it slower makes a part of it slower by as much of the part.
  const double other =
      is_difference && !is_share(finding) ? half_width * std::fabs(value) : half_width;
  const auto end = [&](double at, double side) {
    // An end at or below 0 has no logarithm, and one on the other side of the value is none.
    const bool is_open = !is_difference && !(at > 0.0);
    if (is_open || (at - value) * side < 0.0) return at;
    if (is_difference) return value + side * combined(std::fabs(at - value), other, sign);
    return value * std::exp(side * combined(std::fabs(std::log(at / value)), other, sign));
  };
  finding.low = end(*finding.low, -1.0);
  finding.high = end(*finding.high, 1.0);
}

/// Of what is compared: a remark is about the run, but for a rate, which is another form of what is
/// compared.
bool is_widened(const Finding& finding) {
  const std::string_view unit = finding.unit;
  const bool is_rate = unit.ends_with("_per_second") || unit.ends_with("_per_cycle");
  const bool is_said = (finding.role == Role::remark && !is_rate) || finding.role == Role::advice;
  return !is_said && finding.value && finding.low && finding.high;
}

}  // namespace

Finding with_disturbance(const Finding& own, double half_width) {
  if (!is_widened(own) || !(half_width > 0.0)) return own;
  Finding shown = own;
  shown.disturbance = half_width;
  move_ends(shown, half_width, 1.0);
  return shown;
}

Finding without_disturbance(const Finding& finding) {
  Finding own = finding;
  if (!(finding.disturbance > 0.0)) return own;
  move_ends(own, finding.disturbance, -1.0);
  own.disturbance = 0.0;
  return own;
}

void forget_disturbance(Run& run) {
  for (ProbeResult& result : run.results) {
    for (Finding& finding : result.findings) finding = without_disturbance(finding);
  }
}

void hold_disturbance(Run& run) {
  forget_disturbance(run);
  const Meanwhile meanwhile = meanwhile_of(run, run.disturbances);
  for (ProbeResult& result : run.results) {
    const SeriesTimers timers(result, run.device);
    for (Finding& finding : result.findings) {
      finding = with_disturbance(
          finding, disturbance_of(finding, result, timers.of(finding), run.device, meanwhile));
    }
  }
}

}  // namespace clprobe
