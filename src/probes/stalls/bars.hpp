// SPDX-License-Identifier: Apache-2.0
// From the points of a bar to its findings: by removing causes, by adding noise, and by clocks in
// the kernel. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/ablation.hpp"
#include "analysis/api/estimate.hpp"
#include "analysis/api/statistics.hpp"
#include "probes/shared/bounds.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

inline constexpr std::string_view all_noise[]{"arithmetic", "local memory", "cache", "memory"};
/// The index of a word in all_noise. Throws std::out_of_range for another word.
std::uint32_t place_of_noise(std::string_view word);

/// The parameters of a point with noise.
struct NoiseShape {
  std::string kind{};  ///< of all_noise
  std::uint32_t amount{0};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("noise", kind);
    fields.whole("noise_amount", amount, count_from_0);
  }
};
/// The noise of a point; nothing if it has none.
std::optional<NoiseShape> noise_of(const Point& point);

/// Points with noise of each kind next to the kernel of `usual`, in amounts from 0 up.
std::vector<Point> noise_points(const Point& usual, const DeviceInfo& device, Effort effort);

/// Launches with an amount of noise: extra work per iteration that nothing depends on.
struct NoisePoint {
  double injected{0.0};
  Visits visits_ns{};
};

/// The absorption of one kind of noise by a kernel. Time against noise is flat up to a bend and
/// then rises along a line.
struct Absorption {
  bool is_found{false};  ///< false: the kernel absorbed all noise
  /// Share of the time in which the resource of the noise is free: how far the rising line,
  /// extended to zero noise, lies below the time without noise. 1 if no bend was found.
  double share{1.0};
  Interval share_interval{1.0, 1.0};
  /// True if a small share proves that the resource is always in use: the noise at least doubled
  /// the kernel's time, because up to all of its time can hide noise, and each amount cost about
  /// as much per unit of noise, unlike a delay of the noise itself.
  bool is_decisive{true};
};

/// A resource whose share is below this, by the end of its interval, is always in use, if the noise
/// is decisive.
inline constexpr double saturated_share = 0.1;

/// Fits the bend by least squares over typical times, on a grid between the points. Needs three
/// different amounts, 0 among them. Throws AblationError.
Absorption find_absorption(std::span<const NoisePoint> points, int resamples = 1000);

/// The resource that a kind of noise loads. Throws std::out_of_range for another word.
Resource resource_of_noise(std::string_view word);

struct NoiseKind {
  Resource resource{Resource::arithmetic};
  Absorption absorption{};
};

enum class NoiseVerdict : std::uint8_t {
  agree,         ///< noise and the removal of causes do not contradict each other
  inconclusive,  ///< they name different resources as the busiest
  untested,      ///< nothing is resolved, or there is no noise to compare with
};

struct Agreement {
  NoiseVerdict verdict{NoiseVerdict::untested};
  std::string reason{};  ///< one line, without a full stop
};

/// Compares the largest cause with the resource that absorbs least. If a resource is always in use,
/// the cause must load that resource, or one that is not clearly less busy (overlapping intervals).
/// If none is, the kernel waits for latencies, and noise contradicts no cause. `resources`: those
/// of the ablation's factors.
Agreement compare_with_noise(const Ablation& ablation, std::span<const Resource> resources,
                             std::span<const NoiseKind> noise);

/// The phase whose clock a point's samples read. Empty for whole launches.
std::string phase_of(const Point& point);

/// The parameter of a point without causes whose launch has several groups for each group of the
/// kernel: their number.
inline constexpr std::string_view crowd_name = "crowd";
/// 0: a point has as many groups as the kernel.
std::int64_t crowd_of(const Point& point);

/// True if a point has all causes and no noise, and no part of it is timed alone.
bool is_whole_kernel(const Point& point);

/// The finding whose label says whether noise agrees with the first cause.
inline constexpr std::string_view noise_verdict_name = "noise";
inline constexpr std::string_view noise_agrees = "agree";

/// The time from the first end of a launch's parts to the last one, as a share of the time since
/// the first beginning: how much the least and the most used units differ.
inline constexpr std::string_view longest_tail_name = "longest_tail";

/// The finding "time" of a bar.
Finding time_finding(std::string_view bar, double ns, const Interval& interval,
                     std::string_view method);

/// The finding "time" of a bar on a CPU: the time of a point's best visits, because processes that
/// share the cores only add to it. Nothing on other devices, and for a point without samples.
std::optional<Finding> cpu_time_finding(std::string_view bar, const Point& point,
                                        const DeviceInfo& device);

/// Adds the saving of each cause, the interactions of causes, and the absorption of noise. Adds a
/// reason if points are missing, or come from another version.
void add_ablation(std::string_view bar, const Points& points, const DeviceInfo& device,
                  std::vector<Finding>& findings);

/// The time of a phase by the group's own clock. Nothing if it was not measured.
std::optional<Estimate> phase_time(const Points& points, std::string_view phase,
                                   const DeviceInfo& device);
/// The time of a phase with a pair of clock reads in every iteration, without their overhead.
std::optional<Estimate> paired_phase_time(const Points& points, std::string_view phase,
                                          const DeviceInfo& device);

/// A phase and the label of its part.
struct PhaseLabel {
  std::string_view phase;
  std::string_view label;
};
struct PhaseTime {
  std::string_view label;
  Estimate time;
};
/// The times of the phases that were measured.
std::vector<PhaseTime> phase_times(const Points& points, const DeviceInfo& device,
                                   std::span<const PhaseLabel> labels);

/// Adds the phases as shares of `min_all_ns`, or of their sum if that is more: they come from
/// different launches, some of which a busy host delays. Phases are parts of the time until a part
/// of the launch ends; the tail follows it. The rest is the remainder.
void add_clock_parts(std::string_view bar, std::span<const PhaseTime> times, double min_all_ns,
                     const Points& points, std::vector<Finding>& findings);

/// The sentence that a kernel is bound by latency: its first cause is memory data, noise agrees,
/// and every resource is free for at least a fifth of the time, by the low end of its interval.
/// `findings`: those of the bar, from the first on.
/// Source: Chips and Cheese, GPU memory latency's impact, and updated test: a kernel that issues in
/// less than 80 % of the cycles, and waits most for what it loads, is bound by latency.
std::optional<Finding> find_latency_bound(std::string_view bar, std::span<const Finding> findings);

}  // namespace clprobe::stalls
