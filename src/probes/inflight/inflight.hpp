// SPDX-License-Identifier: Apache-2.0
// Functions that the sources of the probe `inflight` share. Only `open` sees OpenCL.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/statistics.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/inflight/thread_latency.hpp"

namespace clprobe::inflight {

/// The requested options. The probe chooses values for those that are empty.
struct Options {
  Bytes max_memory{};
  Effort effort{Effort::normal};
  std::vector<std::string> series{};
  Bytes last_cache{};
  std::vector<int> work_items{};
  std::vector<int> loads{};
  std::vector<int> mergers{};
  std::vector<std::string> targets{};  ///< never empty

  explicit Options(const Request& request);

  /// Returns true if --series names the series or is not given.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// Returns true if --series names the series.
  [[nodiscard]] bool names(std::string_view name) const;
  [[nodiscard]] bool has_target(std::string_view target) const;
  /// Returns true if numbers of work-items, loads or mergers were requested.
  [[nodiscard]] bool is_narrowed() const;
};

std::int64_t max_items(const DeviceInfo& device);

/// Returns the reason why the loaded latency cannot be measured on a device; empty if it can.
std::string why_no_loaded(const DeviceInfo& device);
/// Returns true if the request includes the loaded latency.
bool wants_loaded(const Options& requested);

/// Returns the memory that the planned points need at once.
Bytes memory_for(const DeviceInfo& device, std::span<const Point> points);

/// Prepares points, which share one buffer per target and the small buffers. Throws Unsupported for
/// work-groups that the driver refuses, and if streams do not run at the same time as the chase.
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

/// Simulates a point. Throws Unsupported for host memory and for streams.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

/// Returns the maximum number of timed rounds of a launch. Every round loads lines of its own.
std::uint64_t max_rounds(const Shape& shape);

/// Returns the fields that all points of a target share.
Shape shape_for(const DeviceInfo& device, const Options& requested, std::string_view target);

/// Plans the Thread-Latency curves, and work-groups without loads.
std::vector<Point> plan_curves(const DeviceInfo& device, const Options& requested);

/// Plans every second number of work-items around each jump. If the jumps without mergers may show
/// a limit, plans curves with mergers, too.
std::vector<Point> refine_curves(const DeviceInfo& device, const Options& requested,
                                 std::span<const Point> points);

/// Plans a point for each sub-group of the largest or of the requested work-groups. On a CPU, which
/// runs work-items one after another, each work-item counts as a sub-group.
std::vector<Point> plan_own_times(const DeviceInfo& device, const Options& requested);

/// Series of findings about the compute unit as a whole.
inline constexpr std::string_view unit_series = "compute-unit";
/// Series of work-groups without loads.
inline constexpr std::string_view overhead_series = "overhead";

/// Returns true for points of Thread-Latency curves, which time rounds of a whole work-group.
bool is_of_curve(const Point& point);

/// Returns the Thread-Latency curves, in the order of their first points. `series` receives their
/// names.
std::vector<ThreadLatencyCurve> thread_latency_curves(std::span<const Point> points,
                                                      std::vector<std::string>& series);

/// Finds spikes and lower bounds of the curves. The bounds use the mean latency of a chase if it
/// was measured: a round takes the longest of its loads' latencies, and Little's law needs their
/// mean.
std::vector<CurveFinding> find_curves(const DeviceInfo& device, std::span<const Point> points,
                                      std::span<const ThreadLatencyCurve> curves);

/// Fact of a Thread-Latency curve's point, shown next to its time: the unbiased variance of the
/// harmonic means of the point and its two neighbours.
inline constexpr std::string_view variance_fact = "variance_square_cycles";

/// Sets the facts that depend on other points, and `by_median` of chases next to streams.
void derive_facts(std::vector<Point>& points);

/// Sets `variance_fact` of all points that have two neighbours, and removes it from all others.
void derive_variance(std::vector<Point>& points);

std::int64_t sub_group_of(const DeviceInfo& device);

/// Method: docs/inflight.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

struct Serialization {
  double cycles_per_lane{0.0};  ///< time that each work-item of the first sub-group adds
  Interval interval{};
  /// End of the plateau after the first sub-group: the last number of work-items on it, and the
  /// next measured number. Nothing without a plateau that ends.
  std::optional<Gap> plateau{};
};

/// Finds the slope in the first sub-group, and the plateau after it, of a curve of one load without
/// mergers. Returns nothing with fewer than three points in the first sub-group. A plateau spans at
/// least one more sub-group, and rises by less than a quarter of the rise in the first one.
std::optional<Serialization> find_serialization(const ThreadLatencyCurve& curve, int sub_group);

/// Returns the maximum memory bandwidth of one work-group as a share of that of streams on all
/// compute units; nothing if either was not measured. A share far below 1 shows that the curves are
/// limited by the compute unit and not by shared resources.
std::optional<Finding> find_unit_share(const DeviceInfo& device, std::span<const Point> points);

Card card(const ProbeResult& result);

}  // namespace clprobe::inflight
