// SPDX-License-Identifier: Apache-2.0
// Options of the probe `banks`, read once, and the points that follow. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/banks/access.hpp"
#include "probes/shared/wanted_series.hpp"

namespace clprobe::banks {

inline constexpr std::array all_words{4, 8, 16};

/// Options of the command line. The probe chooses what is empty.
struct Options {
  explicit Options(const Request& request);

  [[nodiscard]] bool wants(std::string_view name) const { return is_wanted(series, name); }

  Effort effort{};
  Bytes max_memory{};
  std::vector<std::string> series{};
  std::vector<int> words{};
  std::vector<int> strides{};
  std::vector<int> ways{};
  std::vector<int> sub_groups{};
  std::vector<int> instructions{};
};

/// Work-items of a sub-group.
std::int64_t lanes_of(const DeviceInfo& device);

/// Sub-groups of a work-group, at most as many as keep any local memory busy.
std::int64_t sub_groups_of(const DeviceInfo& device);

std::vector<int> requested_or(const std::vector<int>& requested, const std::vector<int>& otherwise);

/// Requested words, in bytes.
std::vector<int> words_of(const Options& requested);
/// Words of a series, in bytes.
std::vector<int> words_of(const AccessKind& kind, const DeviceInfo& device,
                          const Options& requested);

/// The patterns of a word that the local memory holds.
std::vector<Pattern> patterns_for(const DeviceInfo& device, const Options& requested, int word);

/// One array for all patterns of a word, so that one build serves them.
std::uint64_t array_bytes(const DeviceInfo& device, const Options& requested, int word);

Point point_of(const AccessKind& kind, const Shape& shape);

/// Adds points with exactly k lanes on k rows of one bank, as Probe::refine.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points);

}  // namespace clprobe::banks
