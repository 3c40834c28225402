// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/stamps.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "clprobe/statistics.hpp"

namespace clprobe::stalls {
namespace {

double difference(std::uint64_t later, std::uint64_t earlier) {
  return later > earlier ? static_cast<double>(later - earlier) : 0.0;
}

/// Of parts whose shared stamps are by one clock: the span, and the mean and longest wait for the
/// last.
struct Ends {
  double span{0.0};
  double tail{0.0};
  double longest_tail{0.0};

  [[nodiscard]] double of(std::string_view phase) const {
    if (phase == phase_span) return span;
    return phase == phase_tail ? tail : longest_tail;
  }
};

Ends ends_of(std::span<const Stamp> parts) {
  const Stamp whole = as_one(parts);
  Ends ends;
  ends.span = difference(whole.shared_ended, whole.shared_began);
  for (const Stamp& each : parts) {
    const double tail = difference(whole.shared_ended, each.shared_ended);
    ends.tail += tail;
    ends.longest_tail = std::max(ends.longest_tail, tail);
  }
  ends.tail /= static_cast<double>(parts.size());
  return ends;
}

}  // namespace

bool is_of_ends(std::string_view phase) {
  return phase == phase_tail || phase == phase_longest_tail || phase == phase_span;
}

bool has_shared_clock(const DeviceInfo& device) {
  const ClockKind kind = device.clock.kind;
  return kind == ClockKind::nvidia || kind == ClockKind::cpu || kind == ClockKind::khr_device;
}

double ticks_of_shared(const DeviceInfo& device) {
  return device.clock.kind == ClockKind::nvidia ? device.clock.ticks_per_ns : 1.0;
}

Timer timer_of_kernels(const DeviceInfo& device) {
  const bool has_clock = device.timer == Timer::clock && has_shared_clock(device);
  return runs_items_in_turn(device) && has_clock ? Timer::clock : device.launch_timer;
}

bool has_stamps(const Point& point) {
  return point.parameters.text_or("timer", "") == to_word(Timer::clock);
}

double ticks_of_middle(std::span<const Stamp> groups) {
  std::vector<double> ticks;
  ticks.reserve(groups.size());
  for (const Stamp& each : groups) {
    ticks.push_back(difference(each.shared_ended, each.shared_began));
  }
  return ticks.empty() ? 0.0 : median(ticks);
}

Point with_phase(const Point& usual, std::string_view phase) {
  Point point = usual;
  point.parameters.set("timer", std::string(to_word(Timer::clock)));
  point.parameters.set("phase", std::string(phase));
  return point;
}

void add_tail(std::vector<Point>& points, const Point& usual, const DeviceInfo& device) {
  if (!has_shared_clock(device)) return;
  points.push_back(with_phase(usual, phase_tail));
  points.push_back(with_phase(usual, phase_longest_tail));
  points.push_back(with_phase(usual, phase_span));
}

Stamp as_one(std::span<const Stamp> group) {
  Stamp one = group.front();
  std::uint64_t waited = 0;
  for (const Stamp& each : group) {
    one.began = std::min(one.began, each.began);
    one.ended = std::max(one.ended, each.ended);
    waited += each.waited;
    one.shared_began = std::min(one.shared_began, each.shared_began);
    one.shared_ended = std::max(one.shared_ended, each.shared_ended);
  }
  one.waited = waited / group.size();
  return one;
}

double phase_ticks(std::string_view phase, std::span<const Stamp> stamps,
                   std::size_t parts_of_group, bool is_shared) {
  if (stamps.empty() || parts_of_group == 0) return 0.0;
  double sum = 0.0;
  if (phase == phase_barrier || phase == phase_all) {
    for (const Stamp& each : stamps) {
      sum += phase == phase_all ? difference(each.ended, each.began)
                                : static_cast<double>(each.waited);
    }
    return sum / static_cast<double>(stamps.size());
  }
  if (!is_of_ends(phase)) return 0.0;
  const std::size_t together = is_shared ? stamps.size() : parts_of_group;
  std::size_t count = 0;
  for (std::size_t first = 0; first + together <= stamps.size(); first += together) {
    sum += ends_of(stamps.subspan(first, together)).of(phase);
    ++count;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

}  // namespace clprobe::stalls
