// SPDX-License-Identifier: Apache-2.0
// The loaded latency: one work-group chases pointers through memory while others stream at a rate
// that the delay between their rounds sets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "probes/inflight/shape.hpp"

namespace clprobe::inflight {

/// Series of chases next to streams. Launches of both series are equal: `loaded-latency` times a
/// hop of the chase, and `loaded-traffic` times a streamed line.
inline constexpr std::string_view loaded_latency_series = "loaded-latency";
inline constexpr std::string_view loaded_traffic_series = "loaded-traffic";
/// Series of the findings about loaded latency.
inline constexpr std::string_view loaded_series = "loaded";
inline constexpr std::string_view device_series = "device";

bool is_loaded(const Point& point);

/// Estimates the time of an access by the median of a point's samples, with their quartiles as
/// interval. Returns nothing if the point has no usable samples.
std::optional<Estimate> median_estimate(const Point& point, const DeviceInfo& device);

struct LoadedShape {
  Shape chase{.kind = Kind::chase};
  std::uint64_t groups{0};  ///< streaming work-groups; 0 for the idle latency
  std::uint64_t items{1};   ///< work-items per work-group
  std::uint64_t turns{1};   ///< batches of 4 vectors of 16 bytes per work-item and round
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

  /// Reads a point. Throws PointError for a missing or wrong parameter.
  static LoadedShape of(const Point& point);

  /// Returns the number of vectors in the buffer of the streams. The buffer of the chase has the
  /// same size.
  [[nodiscard]] std::uint64_t vectors() const;
  /// Returns the number of vectors that one work-group loads in a round.
  [[nodiscard]] std::uint64_t vectors_per_round() const { return items * turns * 4; }
  [[nodiscard]] std::uint64_t words_per_round() const { return vectors_per_round() * 4; }
  [[nodiscard]] std::uint64_t bytes_per_round() const { return vectors_per_round() * 16; }
};

std::int64_t stream_groups(const DeviceInfo& device);

/// Number of 8-byte words in the results of the chase. Two words per streaming work-group follow
/// these results.
inline constexpr std::uint64_t words_of_chase = 6;

/// Plans the points of both series with a few delays. Returns no points if the memory is too
/// small. `base` is the shape of the chase.
std::vector<Point> loaded_points(const DeviceInfo& device, const Shape& base);

/// Plans delays close to the delay at which the latency is twice the idle latency.
std::vector<Point> refine_loaded(const DeviceInfo& device, std::span<const Point> points);

/// Adds the latency under load, and the memory-level parallelism of the device and of each compute
/// unit.
void add_loaded_findings(const DeviceInfo& device, std::span<const Point> points, Findings& found);

}  // namespace clprobe::inflight
