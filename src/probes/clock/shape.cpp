// SPDX-License-Identifier: Apache-2.0
#include "probes/clock/shape.hpp"
#include "probes/shared/launch_size.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "probes/shared/work_group.hpp"

namespace clprobe::clock {
namespace {

// Of a CPU. Its clock is looked at as often in a launch.
constexpr std::uint32_t cpu_rounds = 8;
// 16,384 cycles: the two reads of the clock around them are nothing, and what interrupts a core
// meets few of the chains.
constexpr std::uint32_t cpu_links = 128;

std::uint32_t word_at(std::uint32_t w) { return (0x7f4a7c15U * w + 0x42ef9505U) * w; }

std::uint32_t arithmetic(std::uint32_t item, std::uint32_t turns) {
  constexpr float growth = 3.9375F;
  std::uint32_t sum = 0;
  for (std::uint32_t n = 0; n < 4; ++n) {
    const std::uint32_t bits = (item * 4 + n) * 2654435761U >> 9U;
    float value = static_cast<float>(bits) / 8388608.0F * 0.5F + 0.25F;
    for (std::uint32_t i = 0; i < turns * unroll; ++i) {
      const float grown = growth * value;
      value = std::fma(-grown, value, grown);
    }
    sum += std::bit_cast<std::uint32_t>(value);
  }
  return sum;
}

std::uint32_t stream(const Burn& burn, std::uint32_t item, std::uint32_t round) {
  const std::uint64_t first = burn.first + std::uint64_t{item} * burn.apart +
                              std::uint64_t{round} * burn.loads * unroll * burn.step;
  auto at = static_cast<std::uint32_t>(first % burn.vectors);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < burn.loads * unroll; ++i) {
    for (std::uint32_t n = 0; n < 4; ++n) sum += word_at(at * 4 + n);
    at += burn.step;
    if (at >= burn.vectors) at -= burn.vectors;
  }
  return sum;
}

/// The steps of all work-items that do what has so many turns.
std::uint64_t steps_of(const Burn& burn, std::uint32_t turns, bool is_odd_half) {
  const std::uint64_t groups = burn.items / burn.group;
  const bool is_both = burn.numbers != 0 && burn.loads != 0;
  const std::uint64_t half = is_odd_half ? groups / 2 : groups - groups / 2;
  return (is_both ? half : groups) * burn.group * burn.rounds * turns * unroll;
}

}  // namespace

Counting counting_of(const DeviceInfo& device) {
  const Clock& clock = device.clock;
  if (runs_items_in_turn(device)) {
    return clock.kind == ClockKind::cpu ? Counting::chain : Counting::none;
  }
  if (is_simulated(device)) return Counting::none;
  if (clock.kind == ClockKind::nvidia) return Counting::steady;
  const bool is_timed = device.launch_timer == Timer::event;
  return clock.rate == ClockRate::core_cycles && is_timed ? Counting::event : Counting::none;
}

std::string_view missing_on(const DeviceInfo& device) {
  if (counting_of(device) != Counting::none) return {};
  if (is_simulated(device)) return "a simulated device has no clock";
  if (device.clock.kind == ClockKind::none) return "kernels cannot read a clock on this device";
  switch (device.clock.rate) {
    case ClockRate::core_cycles:
      return "the device's cycles cannot be timed, because its launch times are unreliable";
    case ClockRate::constant_rate:
      return "the clock that kernels can read has a constant rate, independent of the core's clock";
    case ClockRate::unknown:
      break;
  }
  return "the clock that kernels can read may have a constant rate, independent of the core's "
         "clock";
}

Burn launch_shape(const DeviceInfo& device, Bytes size) {
  constexpr std::uint64_t groups_of_unit = 8;
  constexpr std::uint64_t largest_group = 256;
  const bool is_cpu = runs_items_in_turn(device);
  const auto max_group =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, device.max_work_group_size));
  Burn burn;
  burn.group = is_cpu ? 1 : std::min(largest_group, max_group);
  burn.items = units_of(device) * groups_of_unit * burn.group;
  burn.vectors = static_cast<std::uint32_t>(size.count / 16);
  // A thread of a CPU has a region of its own; the work-items of a group read neighbours.
  const auto items = static_cast<std::uint32_t>(burn.items);
  burn.apart = is_cpu ? std::max(1U, burn.vectors / items) : 1;
  burn.step = is_cpu ? 1 : std::max(1U, items % burn.vectors);
  burn.rounds = is_cpu ? cpu_rounds : 1;
  burn.links = is_cpu ? cpu_links : 0;
  return burn;
}

std::uint32_t max_turns(const DeviceInfo& device) {
  const std::uint64_t rounds = runs_items_in_turn(device) ? cpu_rounds : 1;
  const std::uint64_t links = runs_items_in_turn(device) ? cpu_links : 0;
  return static_cast<std::uint32_t>((max_iterations / rounds - 1 - links) / 2);
}

std::uint64_t operations_of(const Burn& burn) {
  return steps_of(burn, burn.numbers, false) * operations_of_step;
}

std::uint64_t moved_bytes_of(const Burn& burn) {
  constexpr std::uint64_t bytes_of_step = 16;
  return steps_of(burn, burn.loads, true) * bytes_of_step;
}

std::uint32_t expected_end(const Burn& burn, std::uint32_t item) {
  const bool is_both = burn.numbers != 0 && burn.loads != 0;
  const bool is_odd = item / burn.group % 2 != 0;
  std::uint32_t end = 0;
  for (std::uint32_t round = 0; round < burn.rounds; ++round) {
    if (!(is_both && is_odd) && burn.numbers != 0) end += arithmetic(item + round, burn.numbers);
    if (!(is_both && !is_odd) && burn.loads != 0) end += stream(burn, item, round);
  }
  return end;
}

std::uint32_t expected_chain(std::uint32_t item, std::uint64_t links, std::uint32_t more,
                             std::uint32_t mask) {
  std::uint32_t value = item;
  for (std::uint64_t link = 0; link < links; ++link) value = (value + more) ^ mask;
  return value;
}

}  // namespace clprobe::clock
