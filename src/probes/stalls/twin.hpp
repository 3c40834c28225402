// SPDX-License-Identifier: Apache-2.0
// The host's side of what the kernels of cl/stalls.cl have in common: what a work-item must
// compute. Pure.
#pragma once

#include <array>
#include <cstdint>

namespace clprobe::stalls {

// As in cl/stalls.cl.
inline constexpr std::uint32_t line_words = 32;
inline constexpr std::uint32_t tile_words = 1024;
/// No compiler knows them: a generator's factor, and some bits.
inline constexpr std::uint32_t step_multiplier = 747796405;
inline constexpr std::uint32_t step_addend = 0x9e3779b9;

inline std::uint32_t step(std::uint32_t x, std::uint32_t addend = step_addend) {
  return (x * step_multiplier) ^ addend;
}

/// NEXT: the generator of lines.
inline std::uint32_t next_state(std::uint32_t state) { return state * 1664525 + 1013904223; }

/// `count` loads of lines of the mask that only the generator knows: their sum.
std::uint32_t load_lines(std::uint32_t& state, std::uint32_t mask, int count);
/// Four words of local memory: their sum.
std::uint32_t load_tile(std::uint32_t place, std::uint32_t& turned);
/// Operations on each of four values.
void step_all(std::array<std::uint32_t, 4>& values, std::uint32_t count, std::uint32_t addend);
/// What four values come to.
std::uint32_t folded(const std::array<std::uint32_t, 4>& values);

}  // namespace clprobe::stalls
