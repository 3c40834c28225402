// SPDX-License-Identifier: Apache-2.0
// How long the chain is that tries events and clocks. Pure.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace clprobe {

/// The iterations that take `enough_ns`, of a GPU that times them itself, where so many took
/// `took_ns`; nothing where that was too short to tell, since a launch begins in microseconds.
inline std::optional<std::uint32_t> length_taking(double enough_ns, std::uint32_t iterations,
                                                  double took_ns) {
  constexpr double telling = 0.125;
  if (!(took_ns >= telling * enough_ns)) return std::nullopt;
  if (took_ns >= enough_ns) return iterations;
  return static_cast<std::uint32_t>(std::ceil(iterations * (enough_ns / took_ns)));
}

}  // namespace clprobe
