// SPDX-License-Identifier: Apache-2.0
// The loaded latency: one work-group chases through memory while others stream at a set rate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/inflight/shape.hpp"

namespace clprobe::inflight {

/// Two series of the same launches: the time of a hop, and the time of a line that was streamed
/// beside it.
inline constexpr const char* loaded_latency_series = "loaded-latency";
inline constexpr const char* loaded_traffic_series = "loaded-traffic";
/// What their findings are about.
inline constexpr const char* loaded_series = "loaded";
inline constexpr const char* device_series = "device";

bool is_loaded(const Point& point);

/// What one point of these series is.
struct LoadedShape {
  InflightShape chase{};
  std::uint64_t groups{0};  ///< that stream; 0: the idle latency
  std::uint64_t items{1};   ///< work-items of each
  std::uint64_t turns{1};   ///< of 4 vectors of 16 bytes that a work-item loads in a round
  std::uint64_t delay{0};   ///< multiplications between two rounds
  bool counts_traffic{false};

  /// From the parameters of a point. Throws std::out_of_range where one is missing.
  static LoadedShape of(const Point& point);

  /// Of the streamed buffer, which is as large as that of the chase.
  [[nodiscard]] std::uint64_t vectors() const;
  /// Of one work-group.
  [[nodiscard]] std::uint64_t vectors_per_round() const { return items * turns * 4; }
  [[nodiscard]] std::uint64_t words_per_round() const { return vectors_per_round() * 4; }
  [[nodiscard]] std::uint64_t bytes_per_round() const { return vectors_per_round() * 16; }
};

/// Points of both series with few delays. `base` has the parameters of the chase.
std::vector<Point> loaded_points(const DeviceInfo& device, const Point& base);

/// Delays around that at which the latency is twice the idle one.
std::vector<Point> refine_loaded(const DeviceInfo& device, std::span<const Point> points);

/// The latency under load and the memory-level parallelism, of the device and of a compute unit.
void add_loaded_findings(const DeviceInfo& device, std::span<const Point> points, Findings& found);

/// Throws DeviceError, cl::Error, and Unsupported where work-groups run one after another.
Work prepare_loaded(Session& session, const Point& point);

}  // namespace clprobe::inflight
