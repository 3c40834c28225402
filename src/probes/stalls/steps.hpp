// SPDX-License-Identifier: Apache-2.0
// Whether what taking a level away saves of a load is what `latency` found between the levels.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"

namespace clprobe::stalls {

/// What a level adds to a load, by a stack: level 2 is the second cache less the first, 3 is main
/// memory less the second cache, or less the first where both are one cause.
inline constexpr std::string_view added_name = "added";
/// The same by `latency`.
inline constexpr std::string_view added_by_latency_name = "added_by_latency";
/// Whether both say the same: its label, and why in its reason.
inline constexpr std::string_view as_latency_name = "as_latency";
inline constexpr std::string_view latency_agrees = "agree";
inline constexpr std::string_view latency_doubts = "doubt";

/// The arrays of a kernel's loads, which `latency` has levels for.
struct LoadedSets {
  Bytes far{};
  Bytes near{};
  Bytes first{};
};
/// Keeps with a point what `latency` found of its arrays, as facts; nothing where it found nothing.
void write_latencies(std::span<const KnownLatency> known, const LoadedSets& sets, Point& point);

/// `loads`: that follow each other in an access. `findings`: those of the bar, its parts among
/// them. Of parts that are not known there is no step, and without facts of `latency` no verdict.
void add_steps(std::string_view bar, const Point& usual, double loads,
               std::vector<Finding>& findings);

}  // namespace clprobe::stalls
