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
#include "probes/shared/fields.hpp"

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

inline constexpr std::uint64_t unroll = 16;  // hops per iteration in cl/line.cl

struct Shape {
  std::uint64_t nodes{2};
  std::uint64_t step_bytes{256};
  std::uint64_t align_bytes{32};                  ///< each node is at a multiple of this size
  std::optional<std::uint64_t> distance_bytes{};  ///< from a pair's first word to its second
  /// Bytes that the device loads before a chase, to displace the ring from all caches.
  std::optional<std::uint64_t> flush_bytes{};
  std::uint64_t buffer_bytes{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("nodes", nodes, {.min = 2, .max = std::int64_t{1} << 26U});
    f.whole("step_bytes", step_bytes, count_from_1);
    f.whole("align_bytes", align_bytes, count_from_1);
    f.whole("distance_bytes", distance_bytes, count_from_1);
    f.whole("flush_bytes", flush_bytes);
    f.fact("buffer_bytes", buffer_bytes);
  }

  /// Returns the number of hops from a node to the next.
  [[nodiscard]] std::uint64_t hops_per_node() const { return distance_bytes ? 2 : 1; }
  /// Returns the byte offset of a node, as offset_at() in cl/line.cl does.
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t node) const {
    std::uint32_t sum = node ^ (node >> 3U);
    sum ^= sum >> 6U;
    sum ^= sum >> 12U;
    sum ^= sum >> 24U;
    return node * step_bytes + sum % 8 * (step_bytes / align_bytes) / 8 * align_bytes;
  }
  [[nodiscard]] std::uint64_t ring_bytes() const { return nodes * step_bytes; }

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// A measured point, with the time of a word or a pair.
struct Measured {
  Shape shape{};
  Estimate time{};
};

/// Returns the points of a series that have a time.
std::vector<Measured> read_points(const DeviceInfo& device, std::span<const Point> points,
                                  std::string_view series);

/// Returns the latency by number of nodes, for single words `step` bytes apart.
std::vector<CurvePoint> curve_of(std::span<const Measured> rings, std::uint64_t step);

/// Returns the levels of the curve with the widest spacing. Capacities are numbers of nodes, each
/// in a line of its own.
std::vector<Level> levels_of(std::span<const Measured> rings);

/// Number of levels whose lines the probe measures.
inline constexpr std::size_t max_levels = 2;

/// Returns the number of nodes of the widest spacing that fit the level `i`, counted from 0.
/// Returns nothing for the last level.
std::optional<double> nodes_that_fit(std::span<const Measured> rings,
                                     const std::vector<Level>& levels, std::size_t i, bool is_cpu);

/// Returns the number of nodes of a ring of pairs that misses the first level and hits the second.
/// Returns nothing if no ring of single words with the step of pairs shows the second level.
std::optional<std::uint64_t> nodes_of_pairs(std::span<const Measured> rings);

/// Returns the number of hops before the clock is read. A ring of that many hops is walked once in
/// the launch itself. For larger rings, this is 0.
std::uint64_t warm_hops(const DeviceInfo& device, const Shape& shape);

/// Returns the findings of the probe. Method: docs/line.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
Card card(const ProbeResult& result);

extern const Probe probe;

// Functions that `Probe` points to (launch.cpp, trace.cpp).
Preparer open(Session& session);
/// Simulates a chase on a ring that was walked once before, or on cold caches.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::line
