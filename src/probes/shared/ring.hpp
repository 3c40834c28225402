// SPDX-License-Identifier: Apache-2.0
// Rings of words or pairs of words in global memory (cl/ring.clh): their places, their launches,
// and their curves by number of nodes. Pure, except open_rings().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe {

inline constexpr std::uint64_t ring_unroll = 16;  // hops per iteration in cl/ring.clh

/// A ring of nodes in global memory, each at a step of its own. A node is one word or a pair of
/// words.
struct RingShape {
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
    f.whole("step_bytes", step_bytes, {.min = 1, .max = std::int64_t{1} << 24U});
    f.whole("align_bytes", align_bytes, {.min = 1, .max = std::int64_t{1} << 24U});
    f.whole("distance_bytes", distance_bytes, count_from_1);
    f.whole("flush_bytes", flush_bytes);
    f.fact("buffer_bytes", buffer_bytes);
  }

  /// Returns the number of hops from a node to the next.
  [[nodiscard]] std::uint64_t hops_per_node() const { return distance_bytes ? 2 : 1; }
  /// Returns the byte offset of a node, as offset_at() in cl/ring.clh does.
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t node) const {
    std::uint32_t sum = node ^ (node >> 3U);
    sum ^= sum >> 6U;
    sum ^= sum >> 12U;
    sum ^= sum >> 24U;
    return node * step_bytes + sum % 8 * (step_bytes / align_bytes) / 8 * align_bytes;
  }
  [[nodiscard]] std::uint64_t ring_bytes() const { return nodes * step_bytes; }

  friend bool operator==(const RingShape&, const RingShape&) = default;
};

/// A measured ring, with the time of a node: of a word or a pair.
struct MeasuredRing {
  RingShape shape{};
  Estimate time{};
};

/// Returns the rings of a series that have a time.
std::vector<MeasuredRing> read_rings(const DeviceInfo& device, std::span<const Point> points,
                                     std::string_view series);

/// Returns the latency by number of nodes, of rings with nodes `step` bytes apart.
std::vector<CurvePoint> curve_of(std::span<const MeasuredRing> rings, std::uint64_t step);

/// Returns the numbers of nodes from `first` to `last`, from 16 on with the ratio of the square
/// root of 2. The numbers are the same at all steps, so that curves can be compared point by point.
std::vector<std::uint64_t> numbers_of_nodes(double first, double last);

/// Number of nodes that fit a level. `is_more`: all measured rings fit, and larger rings may fit.
struct NodesThatFit {
  double nodes{0.0};
  bool is_more{false};
  double nodes_below{0.0};  ///< largest measured ring that fits; 0 if all rings are too large
  double nodes_above{0.0};  ///< smallest ring that does not fit; 0 if all rings fit
};

/// Returns the number of nodes at which an ascending curve crosses `latency` for the last time: the
/// first number if all rings are slower.
std::optional<NodesThatFit> fit_of(const std::vector<CurvePoint>& curve, double latency);

// Numbers of nodes that fit count as equal up to this ratio, which is one step of the curves.
inline constexpr double equal_nodes = 1.42;
// A clear step: the number of nodes that fit, or a latency, changes by this factor.
inline constexpr double clear_step = 1.6;

/// Returns the number of hops before the clock is read. A ring of that many hops is walked once in
/// the launch itself. For larger rings, this is 0.
std::uint64_t warm_hops(const DeviceInfo& device, const RingShape& shape);

/// Returns a preparer of rings, whose kernels are in `file`, which includes cl/ring.clh (launch).
Preparer open_rings(Session& session, std::string_view file);

}  // namespace clprobe
