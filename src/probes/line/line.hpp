// SPDX-License-Identifier: Apache-2.0
// The probe `line`: rings of words and pairs, and the functions that `Probe` points to. Pure,
// except `open`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/ring.hpp"

namespace clprobe::line {

/// Rings of single words, by the distance between nodes.
inline constexpr std::string_view spacing_series = "spacing";
/// Rings of pairs that miss the first level of cache and hit the next.
inline constexpr std::string_view pairs_series = "pairs";
/// Rings of pairs that miss all caches.
inline constexpr std::string_view cold_series = "cold-pairs";

/// Distances between the nodes of rings of single words, widest first.
inline constexpr std::array<std::uint64_t, 4> spacings{256, 128, 64, 32};
/// Distances between the words of a pair.
inline constexpr std::array<std::uint64_t, 8> distances{4, 8, 16, 32, 64, 128, 256, 512};

/// Step and alignment of the nodes of pairs. Each node begins an aligned block of 1 KiB, and its
/// neighbours are in other pages.
inline constexpr std::uint64_t pair_step = 4096;
inline constexpr std::uint64_t pair_align = 1024;

using Shape = RingShape;

/// Returns the levels of the curve with the widest spacing. Capacities are numbers of nodes, each
/// in a line of its own.
std::vector<Level> levels_of(std::span<const MeasuredRing> rings);

/// Number of levels whose lines the probe measures.
inline constexpr std::size_t max_levels = 2;

/// Returns the number of nodes of the widest spacing that fit the level `i`, counted from 0.
/// Returns nothing for the last level.
std::optional<double> nodes_that_fit(std::span<const MeasuredRing> rings,
                                     const std::vector<Level>& levels, std::size_t i, bool is_cpu);

/// Returns the number of nodes of a ring of pairs that misses the first level and hits the second.
/// Returns nothing if no ring of single words with the step of pairs shows the second level.
std::optional<std::uint64_t> nodes_of_pairs(std::span<const MeasuredRing> rings);

/// Returns the findings of the probe. Method: docs/line.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
Card card(const ProbeResult& result);

extern const Probe probe;

// Function that `Probe` points to (trace.cpp).
/// Simulates a chase on a ring that was walked once before, or on cold caches.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::line
