// SPDX-License-Identifier: Apache-2.0
// Functions that the sources of the probe `inflight` share. Pure, but for `open`.
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

/// Options of the command line. The probe chooses what is empty.
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

  /// True if --series names it, or nothing.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// True if --series names it.
  [[nodiscard]] bool names(std::string_view name) const;
  [[nodiscard]] bool has_target(std::string_view target) const;
  /// True if numbers of work-items, loads or mergers were given.
  [[nodiscard]] bool is_narrowed() const;
};

/// Bytes from one line to the next, a power of two.
Bytes line_of(const DeviceInfo& device);

/// Work-items that a group can have.
std::int64_t max_items(const DeviceInfo& device);

/// True if the loaded latency can be measured, and was not left out.
bool plans_loaded(const DeviceInfo& device, const Options& requested);

/// Powers of two; with the streams they fit into the memory that is allowed.
struct Buffers {
  Bytes cache;   ///< what surely stays in the last cache
  Bytes memory;  ///< more than it holds; of the host, and of the streams, as much again

  [[nodiscard]] Bytes of(std::string_view target) const {
    return target == "cache" ? cache : memory;
  }
};

Buffers choose_buffers(const DeviceInfo& device, const Options& requested);

/// Memory that the planned points take at once.
Bytes memory_for(const DeviceInfo& device, std::span<const Point> points);

/// Prepares points that share the memory of each target and the small buffers. A point is refused
/// (Unsupported) for work-groups that the kernel does not take, and where work-groups that must run
/// side by side run one after another.
Preparer open(Session& session);
/// Builds that `open` uses for the kernels of a point, as Probe::builds.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

/// Launches of a point for the simulator; throws Unsupported for the host's memory and for streams.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

/// Timed rounds of a launch, at most: each has lines of its own.
std::uint64_t max_rounds(const Shape& shape);

/// Parts of a shape that all points of a target share.
Shape shape_for(const DeviceInfo& device, const Options& requested, std::string_view target);

/// The curves of a first look, and the work-groups without loads.
std::vector<Point> plan_curves(const DeviceInfo& device, const Options& requested);

/// Around each jump every second number of work-items; and, where the jumps without mergers may be
/// those of a limit, what mergers say.
std::vector<Point> refine_curves(const DeviceInfo& device, const Options& requested,
                                 std::span<const Point> points);

/// A point for each sub-group of the largest group, or of those that were asked for. On a CPU,
/// which runs work-items one after another, a work-item is a sub-group.
std::vector<Point> plan_own_times(const DeviceInfo& device, const Options& requested);

/// The series that is about the compute unit as a whole.
inline constexpr std::string_view unit_series = "compute-unit";
/// The series of work-groups without loads.
inline constexpr std::string_view overhead_series = "overhead";

/// True if a point belongs to a Thread-Latency curve: rounds of a whole group, with loads.
bool is_of_curve(const Point& point);

/// The Thread-Latency curves among the points, in the order of their first points; `series` gets
/// their names.
std::vector<ThreadLatencyCurve> thread_latency_curves(std::span<const Point> points,
                                                      std::vector<std::string>& series);

/// Finds spikes and bounds of the curves, with the lower bounds that the mean latency of a chase
/// allows.
std::vector<CurveFinding> find_curves(const DeviceInfo& device, std::span<const Point> points,
                                      std::span<const ThreadLatencyCurve> curves);

/// The fact of a Thread-Latency curve's points that stands beside their times: the unbiased
/// variance of the harmonic means of a point and its two neighbours.
inline constexpr std::string_view variance_fact = "variance_square_cycles";

/// Writes that fact of all points that have two neighbours, and takes it from all others.
void derive_variance(std::vector<Point>& points);

std::int64_t sub_group_of(const DeviceInfo& device);

/// Method: docs/inflight.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);

struct Serialization {
  double cycles_per_lane{0.0};  ///< that each further work-item of the first sub-group adds
  Interval interval{};
  /// The last work-items of the shelf behind the first sub-group, in which the time hardly rises,
  /// and the next ones, which rise. Nothing where there is no shelf that ends.
  std::optional<Gap> shelf{};
};

/// Finds the slope and the shelf of a curve of one load without mergers; nothing with fewer than
/// three points in the first sub-group. A shelf holds a whole sub-group more, and rises by less
/// than a quarter of what the first one does.
std::optional<Serialization> find_serialization(const ThreadLatencyCurve& curve, int sub_group);

/// The most bytes from memory that the one work-group of the Thread-Latency curves had in a
/// nanosecond, as a share of the most that work-groups on all units streamed. Far below 1, what the
/// curves show are limits of the unit, and not of what all units share. Nothing where either was
/// not measured.
std::optional<Finding> find_unit_share(const DeviceInfo& device, std::span<const Point> points);

/// Findings on the card of a device. Pure.
Card card(const ProbeResult& result);

}  // namespace clprobe::inflight
