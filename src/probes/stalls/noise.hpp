// SPDX-License-Identifier: Apache-2.0
// Points with noise, how much of it a kernel takes in without becoming slower, and whether that
// agrees with the kernel's first cause. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/api/ablation.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/bounds.hpp"

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

/// The resource that a cause or a kind of noise loads. `waiting`: a delay that keeps nothing busy,
/// such as a barrier or a dependency chain.
enum class Resource : std::uint8_t { waiting, arithmetic, local_memory, cache, memory };

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

}  // namespace clprobe::stalls
