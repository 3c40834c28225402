// SPDX-License-Identifier: Apache-2.0
// The loaded latency: one work-group chases through memory while others stream at a set rate.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/inflight/shape.hpp"

namespace clprobe::inflight {

/// Two series of the same launches: the time of a hop, and the time of a line that was streamed
/// beside it.
inline constexpr std::string_view loaded_latency_series = "loaded-latency";
inline constexpr std::string_view loaded_traffic_series = "loaded-traffic";
/// Series of their findings.
inline constexpr std::string_view loaded_series = "loaded";
inline constexpr std::string_view device_series = "device";

bool is_loaded(const Point& point);

/// A point of these series.
struct LoadedShape {
  Shape chase{.kind = Kind::chase};
  std::uint64_t groups{0};  ///< that stream; 0: the idle latency
  std::uint64_t items{1};   ///< work-items of each
  std::uint64_t turns{1};   ///< of 4 vectors of 16 bytes that a work-item loads in a round
  std::uint64_t delay{0};   ///< multiplications between two rounds
  bool counts_traffic{false};

  template <typename Visitor>
  void visit(Visitor& fields) {
    chase.visit(fields);
    fields.whole("stream_groups", groups, count_from_0);
    fields.whole("stream_items", items, count_from_1);
    fields.whole("stream_turns", turns, count_from_1);
    fields.whole("delay", delay, count_from_0);
  }

  /// Throws std::out_of_range where a parameter is missing.
  static LoadedShape of(const Point& point);

  /// Vectors of the streamed buffer, which is as large as that of the chase.
  [[nodiscard]] std::uint64_t vectors() const;
  /// Vectors of one work-group.
  [[nodiscard]] std::uint64_t vectors_per_round() const { return items * turns * 4; }
  [[nodiscard]] std::uint64_t words_per_round() const { return vectors_per_round() * 4; }
  [[nodiscard]] std::uint64_t bytes_per_round() const { return vectors_per_round() * 16; }
};

/// Work-groups that stream.
std::int64_t stream_groups(const DeviceInfo& device);

/// Words of 8 bytes that the kernel returns for the chase; two for each streaming group follow.
inline constexpr std::uint64_t words_of_chase = 6;

/// Points of both series with few delays; none where the memory is too little. `base` is the chase.
std::vector<Point> loaded_points(const DeviceInfo& device, const Shape& base);

/// Delays around that at which the latency is twice the idle one.
std::vector<Point> refine_loaded(const DeviceInfo& device, std::span<const Point> points);

/// The latency under load and the memory-level parallelism, of the device and of a compute unit.
void add_loaded_findings(const DeviceInfo& device, std::span<const Point> points, Findings& found);

}  // namespace clprobe::inflight
