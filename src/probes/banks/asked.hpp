// SPDX-License-Identifier: Apache-2.0
// What the probe `banks` is asked for, read once, and what a device has of it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/banks/access.hpp"
#include "probes/shared/wanted_series.hpp"

namespace clprobe::banks {

inline constexpr std::array all_words{4, 8, 16};

/// What is empty is the probe's choice.
struct Asked {
  explicit Asked(const Request& request);

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

/// Of a work-group, at most as many as keep any local memory busy.
std::int64_t sub_groups_of(const DeviceInfo& device);

std::vector<int> asked_or(const std::vector<int>& asked, const std::vector<int>& otherwise);

/// In bytes.
std::vector<int> words_of(const Asked& asked);
/// Those of a series.
std::vector<int> words_of(const AccessKind& kind, const DeviceInfo& device, const Asked& asked);

}  // namespace clprobe::banks
