// SPDX-License-Identifier: Apache-2.0
#include "probes/clock/shape.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace clprobe::clock {
namespace {

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

std::uint32_t stream(const Burn& burn, std::uint32_t at, std::uint32_t turns) {
  const auto step = static_cast<std::uint32_t>(burn.items % burn.vectors);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < turns * unroll; ++i) {
    for (std::uint32_t n = 0; n < 4; ++n) sum += word_at(at * 4 + n);
    at += step;
    if (at >= burn.vectors) at -= burn.vectors;
  }
  return sum;
}

}  // namespace

std::string_view missing_on(const DeviceInfo& device) {
  if (is_simulated(device)) return "a simulated device has no clock";
  const ClockKind kind = device.clock.kind;
  const bool is_native_cpu = runs_items_in_turn(device) && kind == ClockKind::cpu;
  if (is_native_cpu || kind == ClockKind::nvidia) return {};
  return "no counter of the core's cycles is known beside one of a constant rate";
}

std::uint32_t expected_end(const Burn& burn, std::uint32_t item) {
  const bool is_both = burn.numbers != 0 && burn.loads != 0;
  const bool is_odd = item / burn.group % 2 != 0;
  std::uint32_t end = 0;
  for (std::uint32_t round = 0; round < burn.rounds; ++round) {
    if (!(is_both && is_odd) && burn.numbers != 0) end += arithmetic(item + round, burn.numbers);
    if (!(is_both && !is_odd) && burn.loads != 0) {
      end += stream(burn, (item + round) % burn.vectors, burn.loads);
    }
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
