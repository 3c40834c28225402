// SPDX-License-Identifier: Apache-2.0
// What work-items of the kernels of cl/stalls.cl compute, as the host checks it, and the work-items
// that keep one resource busy (noise). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/shared/bounds.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

// These must equal the constants in cl/stalls.cl.
inline constexpr std::uint32_t line_words = 32;
inline constexpr std::uint32_t tile_words = 1024;
/// The factor and the bits of an operation, which are arguments so that no compiler knows them.
inline constexpr std::uint32_t step_multiplier = 747796405;
inline constexpr std::uint32_t step_addend = 0x9e3779b9;

inline std::uint32_t step(std::uint32_t x, std::uint32_t addend = step_addend) {
  return (x * step_multiplier) ^ addend;
}

/// The generator of lines (NEXT in cl/stalls.cl).
inline std::uint32_t next_state(std::uint32_t state) { return state * 1664525 + 1013904223; }

/// The sum of `count` loads of lines that the generator chooses.
std::uint32_t load_lines(std::uint32_t& state, std::uint32_t mask, int count);
/// The sum of four words of local memory.
std::uint32_t load_tile(std::uint32_t place, std::uint32_t& turned);
/// Does `count` operations on each of four values.
void step_all(std::array<std::uint32_t, 4>& values, std::uint32_t count, std::uint32_t addend);
/// Combines four values to one.
std::uint32_t folded(const std::array<std::uint32_t, 4>& values);

inline constexpr std::string_view all_noise[]{"arithmetic", "local memory", "cache", "memory"};
/// The index of a word in all_noise. Throws std::out_of_range for another word.
std::uint32_t place_of_noise(std::string_view word);
/// The resource that a kind of noise loads. Throws std::out_of_range for another word.
Resource resource_of_noise(std::string_view word);

/// The amount 1 of each kind of noise per iteration, in units of four operations or loads.
struct NoiseUnits {
  std::uint32_t arithmetic{1};
  std::uint32_t local_memory{1};
  std::uint32_t cache{1};
  std::uint32_t memory{1};

  [[nodiscard]] std::uint32_t of(std::uint32_t kind) const {
    return std::array{arithmetic, local_memory, cache, memory}.at(kind);
  }
};

/// The parameters of a point with noise.
struct NoiseShape {
  std::string kind{};  ///< of all_noise
  std::uint32_t amount{0};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("noise", kind);
    fields.whole("noise_amount", amount, count_from_0);
  }
};
/// The noise of a point; nothing if it has none.
std::optional<NoiseShape> noise_of(const Point& point);

/// Points with noise of each kind next to the kernel of `usual`, in amounts from 0 up.
std::vector<Point> noise_points(const Point& usual, const DeviceInfo& device, Effort effort);

/// The work of a work-item that makes noise (MAKE_NOISE in cl/stalls_noise.clh).
struct Noise {
  std::uint32_t kind{0};    ///< index in all_noise
  std::uint32_t amount{0};  ///< units per iteration
  std::uint32_t mask{0};    ///< of the numbers of loaded lines
  std::uint32_t addend{0};  ///< of an operation
};

/// The variables of a work-item that makes noise.
struct NoiseItem {
  std::uint32_t near{0};
  std::uint32_t turned{0};
  std::uint32_t sum{0};
  std::array<std::uint32_t, 4> y{};
};

void make_noise(const Noise& noise, std::uint32_t lane, NoiseItem& item);

}  // namespace clprobe::stalls
