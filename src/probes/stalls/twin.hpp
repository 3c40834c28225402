// SPDX-License-Identifier: Apache-2.0
// The host's side of what the kernels of cl/stalls.cl have in common: what a work-item computes,
// and the work-items that keep one resource busy (noise). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/ablation.hpp"
#include "probes/shared/bounds.hpp"
#include "probes/stalls/case.hpp"

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

inline constexpr std::string_view all_noise[]{"arithmetic", "local memory", "cache", "memory"};
/// The place among them. Throws std::out_of_range for a word that is none.
std::uint32_t place_of_noise(std::string_view word);
/// The resource that a kind of noise loads. Throws std::out_of_range.
Resource resource_of_noise(std::string_view word);

/// How much of each kind is noise "1" of an iteration, in units of four operations or loads.
struct NoiseUnits {
  std::uint32_t arithmetic{1};
  std::uint32_t local_memory{1};
  std::uint32_t cache{1};
  std::uint32_t memory{1};

  [[nodiscard]] std::uint32_t of(std::uint32_t kind) const {
    return std::array{arithmetic, local_memory, cache, memory}.at(kind);
  }
};

/// The noise of a point.
struct NoiseShape {
  std::string kind{};  ///< of all_noise
  std::uint32_t amount{0};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("noise", kind);
    fields.whole("noise_amount", amount, count_from_0);
  }
};
/// Nothing where the point has none.
std::optional<NoiseShape> noise_of(const Point& point);

/// Noise of each kind in rising amounts from 0 on, beside `usual`.
std::vector<Point> noise_points(const Point& usual, const DeviceInfo& device, Effort effort);

/// What a work-item does that makes noise, as MAKE_NOISE in cl/stalls_noise.clh.
struct Noise {
  std::uint32_t kind{0};    ///< its place
  std::uint32_t amount{0};  ///< units of an iteration
  std::uint32_t mask{0};    ///< of the lines that are loaded
  std::uint32_t addend{0};  ///< of an operation
};

/// The variables that it changes.
struct NoiseItem {
  std::uint32_t near{0};
  std::uint32_t turned{0};
  std::uint32_t sum{0};
  std::array<std::uint32_t, 4> y{};
};

void make_noise(const Noise& noise, std::uint32_t lane, NoiseItem& item);

}  // namespace clprobe::stalls
