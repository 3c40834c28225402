// SPDX-License-Identifier: Apache-2.0
// The probe `pages`: rings with one line per page and rings of adjacent lines, and the functions
// that `Probe` points to. Pure, except `open`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "clprobe/probe.hpp"
#include "probes/shared/ring.hpp"

namespace clprobe::pages {

/// Rings of adjacent lines, in as few pages as possible.
inline constexpr std::string_view packed_series = "packed";
/// Rings with one line per page, by assumed page size.
inline constexpr std::string_view paged_series = "paged";

/// Returns the assumed page sizes, smallest first. The pages of GPUs are not smaller than 16 KiB.
std::span<const std::uint64_t> page_sizes(const DeviceInfo& device);

/// Returns the distance between the nodes of packed rings: a line, as large as those of most caches
/// of the type of device.
std::uint64_t line_bytes(const DeviceInfo& device);

/// Returns the distance between nodes in pages of `page` bytes. Each node is 9 lines further in its
/// page than the node before it, so that paged and packed rings use the sets of a cache alike: in
/// lines, the distances are not divisible by 2, 3 or 7, and on GPUs not by 5.
inline std::uint64_t step_of(const DeviceInfo& device, std::uint64_t page) {
  return page + 9 * line_bytes(device);
}

/// Curves of the latency with the time that translation adds, by number of nodes.
struct Translation {
  double first_ns{0.0};  ///< latency of the smallest packed ring
  std::vector<CurvePoint> packed{};
  /// By assumed page size, smallest first: the latency of the smallest packed ring, plus what the
  /// ring takes longer than as many adjacent lines. Each value is at most the values of all larger
  /// rings, since translation does not get cheaper with more pages. In contrast, near the end of a
  /// cache, either of the two rings may be slower.
  std::vector<std::vector<CurvePoint>> paged{};
};

Translation translation_of(const DeviceInfo& device, std::span<const Point> points);

/// A level of translation: rings of at most that many pages are as fast.
struct TranslationLevel {
  double latency_ns{0.0};  ///< latency of the smallest packed ring, plus the time of translation
  double end_ns{0.0};      ///< latency between this level and the next
  double next_ns{0.0};
};

/// Returns the levels whose end is among the measured rings, fastest first.
std::vector<TranslationLevel> levels_of(const Translation& translation);

/// Returns the findings of the probe. Method: docs/pages.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
Card card(const ProbeResult& result);

extern const Probe probe;

// Function that `Probe` points to (trace.cpp).
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::pages
