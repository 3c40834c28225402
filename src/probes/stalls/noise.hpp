// SPDX-License-Identifier: Apache-2.0
// Work-items that keep one resource busy while others work. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "clprobe/ablation.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"

namespace clprobe::stalls {

inline constexpr std::string_view all_noise[]{"arithmetic", "local memory", "cache", "memory"};
/// The place among them. Throws std::out_of_range for a word that is none.
std::uint32_t place_of_noise(std::string_view word);
/// The resource that a kind of noise loads. Throws std::out_of_range.
Resource resource_of_noise(std::string_view word);

/// Noise of each kind in rising amounts from 0 on, beside `usual`.
std::vector<Point> noise_points(const Point& usual, const Limits& limits);

/// What a work-item does that makes noise, as MAKE_NOISE in cl/stalls_noise.clh.
struct Noise {
  std::uint32_t kind;    ///< its place
  std::uint32_t amount;  ///< units of an iteration
  std::uint32_t mask;    ///< of the lines that are loaded
  std::uint32_t addend;  ///< of an operation
};

/// The variables that it changes.
struct NoiseItem {
  std::uint32_t near{0};
  std::uint32_t turned{0};
  std::uint32_t sum{0};
  std::array<std::uint32_t, 4> y{};
};

void make_noise(const Noise& noise, std::uint32_t lane, NoiseItem& item);

/// `count` loads of lines of the mask that only the generator knows: their sum.
std::uint32_t load_lines(std::uint32_t& state, std::uint32_t mask, int count);
/// Four words of local memory: their sum.
std::uint32_t load_tile(std::uint32_t place, std::uint32_t& turned);
/// Operations on each of four values.
void step_all(std::array<std::uint32_t, 4>& values, std::uint32_t count, std::uint32_t addend);
/// What four values come to.
std::uint32_t folded(const std::array<std::uint32_t, 4>& values);

}  // namespace clprobe::stalls
