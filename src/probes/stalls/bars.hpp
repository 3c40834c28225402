// SPDX-License-Identifier: Apache-2.0
// Findings of a bar from its points, by three methods: removing causes, adding noise, and reading
// clocks in the kernel. Pure.
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
#include "probes/shared/fields.hpp"
#include "probes/stalls/case.hpp"

namespace clprobe::stalls {

inline constexpr std::string_view all_noise[]{"arithmetic", "local memory", "cache", "memory"};
/// Returns the index of a word in `all_noise`. Throws std::out_of_range for an unknown word.
std::uint32_t index_of_noise(std::string_view word);

struct NoiseShape {
  std::string kind{};  ///< kind of noise, a word of `all_noise`
  std::uint32_t amount{0};

  template <class Visitor>
  void visit(Visitor& fields) {
    fields.text("noise", kind);
    fields.whole("noise_amount", amount, count_from_0);
  }
};
std::optional<NoiseShape> noise_of(const Point& point);

/// Returns the points that run the kernel of `usual` next to noise of each kind, in amounts from 0.
std::vector<Point> noise_points(const Point& usual, const DeviceInfo& device, Effort effort);

/// Times of launches with one amount of noise. Noise is extra work per iteration whose results no
/// other work needs.
struct NoisePoint {
  double injected{0.0};
  Visits visits_ns{};
};

/// Absorption of one kind of noise by a kernel. The kernel's time is constant up to a bend in the
/// amount of noise, and then rises linearly.
struct Absorption {
  bool is_found{false};  ///< true if a bend was found; false: the kernel absorbed all noise
  /// Share of the time in which the resource used by the noise is free:
  /// 1 - (intercept of the rising line) / (time without noise). 1 if no bend was found.
  double share{1.0};
  Interval share_interval{1.0, 1.0};
  /// True if a small share proves that the resource is always in use. The noise must at least
  /// double the kernel's time, because the kernel can hide noise during its whole time. The cost
  /// per amount of noise must be about constant, which excludes a delay that only the noise itself
  /// causes.
  bool is_decisive{true};
};

/// Free share below which a resource counts as always in use. The high end of the share's interval
/// must be below this limit, and the noise must be decisive.
inline constexpr double saturated_share = 0.1;

/// Fits the bend by least squares to the typical times. Candidate bends are on a grid between the
/// points. Needs at least three different amounts, including 0. Throws AblationError.
Absorption find_absorption(std::span<const NoisePoint> points, int resamples = 1000);

/// Returns the resource that a kind of noise loads. Throws std::out_of_range for an unknown kind.
Resource resource_of_noise(std::string_view word);

struct NoiseKind {
  Resource resource{Resource::arithmetic};
  Absorption absorption{};
};

enum class NoiseVerdict : std::uint8_t {
  agree,         ///< noise and the removal of causes do not contradict each other
  inconclusive,  ///< noise and the removal of causes indicate different busiest resources
  unknown,       ///< no first cause is known, or another resource may be busy
};

struct Agreement {
  NoiseVerdict verdict{NoiseVerdict::unknown};
  std::string reason{};  ///< reason of the verdict: one line without a final full stop
};

/// Compares the resource that the first cause loads with the resource that absorbs the least noise.
/// If a resource is always in use, the cause must load this resource, or a resource with an
/// overlapping interval. If the intervals of all other resources are above `saturated_share`, no
/// other resource is always in use: the kernel waits for latencies, and noise contradicts no cause.
Agreement compare_with_noise(Resource loaded, std::span<const NoiseKind> noise);

/// Returns the phase that a point's in-kernel clock measures; empty if the point times the whole
/// kernel.
std::string phase_of(const Point& point);

/// Parameter of a point with all causes removed: the number of launched groups per group of the
/// kernel.
inline constexpr std::string_view crowd_name = "crowd";
/// Returns the point's number of groups per group of the kernel; 0 without this parameter.
std::int64_t crowd_of(const Point& point);

/// Returns true if the point has all causes, and no noise, phase or additional groups.
bool is_whole_kernel(const Point& point);

/// Name of the finding whose label shows whether noise agrees with the first cause.
inline constexpr std::string_view noise_verdict_name = "noise";
inline constexpr std::string_view noise_agrees = "agree";

/// Name of a finding: the share of the longest tail in the span of a launch. The longest tail is
/// the time from the first end of a part to the last end. The finding shows how unequally the
/// compute units are used.
inline constexpr std::string_view longest_tail_name = "longest_tail";

Finding time_finding(std::string_view bar, double ns, const Interval& interval,
                     std::string_view method);

/// Returns the finding "time" of a bar on a CPU, from the best visits of the point: other processes
/// on the cores only add time. Returns nothing on other devices, and for a point without samples.
std::optional<Finding> cpu_time_finding(std::string_view bar, const Point& point,
                                        const DeviceInfo& device);

/// Adds the time, the savings of the causes, the rest, the first cause, interactions, noise and
/// advice. Adds a reason instead if points are missing or come from another version of clprobe.
void add_ablation(std::string_view bar, const Points& points, const DeviceInfo& device,
                  std::vector<Finding>& findings);

/// Returns the time of a phase by the in-kernel clock; nothing if the phase was not measured.
std::optional<Estimate> phase_time(const Points& points, std::string_view phase,
                                   const DeviceInfo& device);
/// Returns the time of a phase that reads the clock twice per iteration. The overhead of the clock
/// reads is subtracted.
std::optional<Estimate> paired_phase_time(const Points& points, std::string_view phase,
                                          const DeviceInfo& device);

struct PhaseLabel {
  std::string_view phase;
  std::string_view label;
};
struct PhaseTime {
  std::string_view label;
  Estimate time;
};
std::vector<PhaseTime> phase_times(const Points& points, const DeviceInfo& device,
                                   std::span<const PhaseLabel> labels);

/// Adds each phase, the tail, the longest tail and the remainder as shares of the launch. Before
/// the tail, the phases are shares of their sum, or of `min_all_ns` if that is larger. The sum
/// counts because each phase comes from another launch, which a busy host may delay.
void add_clock_parts(std::string_view bar, std::span<const PhaseTime> times, double min_all_ns,
                     const Points& points, std::vector<Finding>& findings);

/// Decides by the findings' intervals, which disturbances widen, whether the first cause is known
/// and whether noise confirms it. Sets or removes the findings that depend on these decisions.
void combine(std::vector<Finding>& findings);

/// Returns the finding that a kernel is bound by latency, with its sentence. The first cause must
/// be memory data, and noise must agree. Each resource must be free for at least 20 % of the time,
/// by the low end of its interval. `findings`: the findings of the bar. Source: Chips and Cheese,
/// GPU memory latency's impact, and updated test. There, a kernel is bound by latency if it issues
/// in less than 80 % of the cycles and mostly waits for loads.
std::optional<Finding> find_latency_bound(std::string_view bar, std::span<const Finding> findings);

}  // namespace clprobe::stalls
