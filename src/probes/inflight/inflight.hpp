// SPDX-License-Identifier: Apache-2.0
// Functions that the sources of the probe `inflight` share. Only `open` uses OpenCL.
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

/// Requested options. The probe chooses values for empty options.
struct Options {
  Bytes max_memory{};
  Effort effort{Effort::normal};
  std::vector<std::string> series{};
  Bytes last_cache{};
  std::vector<int> work_items{};
  std::vector<int> loads{};
  std::vector<int> mergers{};
  std::vector<std::string> targets{};  ///< never empty: the default targets if none are requested

  explicit Options(const Request& request);

  /// Returns true if --series names the series or is not given.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// Returns true if --series names the series.
  [[nodiscard]] bool names(std::string_view name) const;
  [[nodiscard]] bool has_target(std::string_view target) const;
  /// Returns true if the request has numbers of work-items, loads or mergers.
  [[nodiscard]] bool is_narrowed() const;
};

std::int64_t max_items(const DeviceInfo& device);

/// Returns the reason why the device cannot measure loaded latency. If the device can, returns an
/// empty string.
std::string why_no_loaded(const DeviceInfo& device);
/// Returns true if the request includes the loaded latency.
bool wants_loaded(const Options& requested);

/// Returns the memory in bytes that the planned points need at the same time.
Bytes memory_for(const DeviceInfo& device, std::span<const Point> points);

/// Returns the function that prepares points. All points of a target share one buffer, and all
/// points share the small buffers. The function throws Unsupported if the driver refuses the
/// work-group, or if streams do not run at the same time as the chase.
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

/// Returns the work to simulate a point. Throws Unsupported for host memory and loaded latency.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

/// Returns the maximum number of timed rounds of a launch. Each round needs lines that no other
/// round loads.
std::uint64_t max_rounds(const Shape& shape);

/// Returns the fields that all points of a target share.
Shape shape_for(const DeviceInfo& device, const Options& requested, std::string_view target);

/// Plans the Thread-Latency curves, and the work-groups without loads that measure the overhead.
std::vector<Point> plan_curves(const DeviceInfo& device, const Options& requested);

/// Plans points around each spike, at every second number of work-items. Unless loads or mergers
/// are requested, also plans curves that narrow the loads of a sub-group and, for targets whose
/// spikes may show a limit, curves with mergers.
std::vector<Point> refine_curves(const DeviceInfo& device, const Options& requested,
                                 std::span<const Point> points);

/// Plans a point for each sub-group of the requested work-groups. Default: one work-group of the
/// maximum size, at most 256 work-items in a quick run and 8 on a CPU. On a CPU, which runs
/// work-items one after another, each work-item counts as a sub-group.
std::vector<Point> plan_own_times(const DeviceInfo& device, const Options& requested);

/// Series of findings about the compute unit as a whole.
inline constexpr std::string_view unit_series = "compute-unit";
/// Series of work-groups without loads.
inline constexpr std::string_view overhead_series = "overhead";

/// Returns true for points of Thread-Latency curves. These points time rounds of a whole
/// work-group.
bool is_of_curve(const Point& point);

/// Returns the Thread-Latency curves in the order of their first points. `series` receives the
/// name of each curve.
std::vector<ThreadLatencyCurve> thread_latency_curves(std::span<const Point> points,
                                                      std::vector<std::string>& series);

/// Finds the spikes and lower bounds of the curves. The bounds use the mean latency of a single
/// chain if it was measured and is lower: Little's law needs the mean latency of the loads, but a
/// round takes as long as the slowest load.
std::vector<CurveFinding> find_curves(const DeviceInfo& device, std::span<const Point> points,
                                      std::span<const ThreadLatencyCurve> curves);

/// Name of the fact that the report shows next to the time of a Thread-Latency point: the unbiased
/// variance of the harmonic means of the point and its two neighbours.
inline constexpr std::string_view variance_fact = "variance_square_cycles";

/// Derives `variance_fact`, and sets the fact `by_median` of all points of loaded latency.
void derive_facts(std::vector<Point>& points);

/// Sets `variance_fact` of all points that have two neighbours, and removes it from all other
/// points.
void derive_variance(std::vector<Point>& points);

std::int64_t sub_group_of(const DeviceInfo& device);

/// Returns the findings of the probe. Method: docs/inflight.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
/// Lowers the bound of a compute unit's loads in flight to at most the highest low end of the
/// chains' intervals, which disturbances may have widened.
void combine(std::vector<Finding>& findings);

struct Serialization {
  double cycles_per_lane{0.0};  ///< additional time per work-item of the first sub-group
  Interval interval{};
  /// End of the plateau after the first sub-group: the last measured number of work-items on the
  /// plateau, and the next measured number. Empty if the end of the plateau was not observed.
  std::optional<Gap> plateau{};
};

/// Finds the slope within the first sub-group, and the plateau after the first sub-group. The
/// curve must have one load and no mergers. Returns nothing with fewer than three points in the
/// first sub-group. A plateau spans at least one more sub-group, and rises by at most a quarter of
/// the rise in the first sub-group.
std::optional<Serialization> find_serialization(const ThreadLatencyCurve& curve, int sub_group);

/// Returns the maximum memory bandwidth of one work-group, as a share of that of streams on all
/// compute units. Returns nothing if either bandwidth was not measured. If the share is far below
/// 1, the compute unit limits the curves, not a shared resource.
std::optional<Finding> find_unit_share(const DeviceInfo& device, std::span<const Point> points);

Card card(const ProbeResult& result);

}  // namespace clprobe::inflight
