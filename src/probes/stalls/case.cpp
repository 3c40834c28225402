// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::stalls {
namespace {

struct CauseRow {
  Cause cause;
  std::string_view word;
  std::string_view label;
  Resource resource;
};

constexpr std::array cause_rows{
    CauseRow{Cause::main_memory, "main-memory", "memory data: main memory", Resource::memory},
    CauseRow{Cause::second_cache, "second-cache", "memory data: L2", Resource::cache},
    CauseRow{Cause::beyond_first, "beyond-first", "memory data: L2 or main memory",
             Resource::memory},
    CauseRow{Cause::bank_conflict, "bank-conflict", "memory structural: bank conflict",
             Resource::local_memory},
    CauseRow{Cause::barrier, "barrier", "synchronization: barrier", Resource::waiting},
    CauseRow{Cause::chain, "chain", "compute data", Resource::waiting},
    // Divergence loads the arithmetic units: inactive lanes take as many issue slots as active
    // lanes.
    CauseRow{Cause::divergence, "divergence", "control", Resource::arithmetic},
    CauseRow{Cause::serial_requests, "serial-requests", "memory structural: serial requests",
             Resource::cache},
    CauseRow{Cause::store_buffer, "store-buffer", "memory structural: full store buffer",
             Resource::memory},
    CauseRow{Cause::release, "release", "memory structural: pending release", Resource::waiting},
    CauseRow{Cause::function_unit, "function-unit", "compute structural", Resource::arithmetic}};

struct Order {
  Cause first;
  Cause then;
};

constexpr std::array orders{Order{Cause::main_memory, Cause::second_cache},
                            Order{Cause::serial_requests, Cause::store_buffer},
                            Order{Cause::release, Cause::store_buffer}};

const CauseRow& row_of(Cause cause) { return cause_rows.at(static_cast<std::size_t>(cause)); }

Cause cause_of(std::string_view word) {
  for (const CauseRow& row : cause_rows) {
    if (row.word == word) return row.cause;
  }
  throw std::out_of_range(fmt::format("cause {}", word));
}

double difference(std::uint64_t later, std::uint64_t earlier) {
  return later > earlier ? static_cast<double>(later - earlier) : 0.0;
}

}  // namespace

std::string_view label_of(Cause cause) { return row_of(cause).label; }

std::string_view to_word(Cause cause) { return row_of(cause).word; }

Resource resource_of(Cause cause) { return row_of(cause).resource; }

std::optional<Cause> cause_called(std::string_view label) {
  const auto* const row = std::ranges::find(cause_rows, label, &CauseRow::label);
  return row == cause_rows.end() ? std::nullopt : std::optional(row->cause);
}

std::vector<Cause> causes_in(std::string_view words) {
  std::vector<Cause> causes;
  while (!words.empty()) {
    const std::size_t comma = std::min(words.find(','), words.size());
    causes.push_back(cause_of(words.substr(0, comma)));
    words.remove_prefix(std::min(comma + 1, words.size()));
  }
  return causes;
}

std::string joined(std::span<const Cause> causes) {
  std::string words;
  for (const Cause cause : causes) {
    if (!words.empty()) words += ',';
    words += to_word(cause);
  }
  return words;
}

bool Ablated::is_removed(Cause cause) const {
  const std::vector<Cause> causes = causes_in(factors);
  const auto found = std::find(causes.begin(), causes.end(), cause);
  return found != causes.end() && ((idealised >> (found - causes.begin())) & 1U) != 0;
}

std::vector<std::uint32_t> needs_of(std::span<const Cause> causes) {
  std::vector<std::uint32_t> needs(causes.size(), 0);
  const auto place_of = [&](Cause cause) {
    return static_cast<std::size_t>(std::find(causes.begin(), causes.end(), cause) -
                                    causes.begin());
  };
  for (const Order& order : orders) {
    const std::size_t first = place_of(order.first);
    const std::size_t then = place_of(order.then);
    if (first < causes.size() && then < causes.size()) needs[then] |= 1U << first;
  }
  return needs;
}

std::vector<Point> with_all_sets(const Point& usual) {
  auto ablated = shape_of<Ablated>(usual);
  const std::vector<Cause> causes = causes_in(ablated.factors);
  const std::vector<std::uint32_t> needs = needs_of(causes);
  std::vector<Point> points;
  for (std::uint32_t set = 0; set < (1U << causes.size()); ++set) {
    if (!is_reachable(set, needs)) continue;
    ablated.idealised = set;
    points.push_back(usual);
    write_shape(ablated, points.back());
  }
  return points;
}

WorkingSets WorkingSets::of(const DeviceInfo& device, const Options& requested) {
  // The array sizes suit GPUs with at most 256 KiB in the first level and at least 4 MiB in the
  // second, and CPUs with at most 128 KiB in the first level and at least 512 KiB in the second.
  const Bytes usual = is_gpu(device) ? mebibytes(512) : mebibytes(128);
  const Bytes near = is_gpu(device) ? mebibytes(2) : kibibytes(256);
  const Bytes largest_cache = is_gpu(device) ? mebibytes(64) : mebibytes(16);
  Bytes most = std::min(device.max_allocation, device.global_memory / 4);
  if (requested.max_data.count != 0) most = std::min(most, requested.max_data);
  most = std::min(most, gibibytes(1));
  const Bytes wish = std::max(usual, requested.last_cache * 4);
  WorkingSets sets;
  sets.far_bytes = std::max(std::bit_floor(std::min(wish, most).count), min_far_bytes.count);
  sets.near_bytes = std::min(near.count, sets.far_bytes / 4);
  sets.first_bytes = std::min(kibibytes(8).count, sets.near_bytes / 2);
  sets.is_combined = sets.far_bytes < 2 * std::max(largest_cache, requested.last_cache).count;
  return sets;
}

std::int64_t group_size(const DeviceInfo& device, std::int64_t at_most) {
  const std::int64_t allowed = std::max<std::int64_t>(device.max_work_group_size, 1);
  return static_cast<std::int64_t>(std::bit_floor(std::uint64_t(std::min(at_most, allowed))));
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

double median_group_ticks(std::span<const Stamp> groups) {
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

Stamp merge_stamps(std::span<const Stamp> group) {
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

double phase_ticks(std::string_view phase, std::span<const Stamp> stamps) {
  if (stamps.empty()) return 0.0;
  const Stamp whole = merge_stamps(stamps);
  if (phase == phase_span) return difference(whole.shared_ended, whole.shared_began);
  double sum = 0.0;
  double longest = 0.0;
  for (const Stamp& each : stamps) {
    const double tail = difference(whole.shared_ended, each.shared_ended);
    longest = std::max(longest, tail);
    if (phase == phase_tail) sum += tail;
    if (phase == phase_barrier) sum += static_cast<double>(each.waited);
    if (phase == phase_all) sum += difference(each.ended, each.began);
  }
  return phase == phase_longest_tail ? longest : sum / static_cast<double>(stamps.size());
}

}  // namespace clprobe::stalls
