// SPDX-License-Identifier: Apache-2.0
// What the probe `inflight` is asked for, read once. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::inflight {

/// What is empty is the probe's choice.
struct Asked {
  Bytes max_memory{};
  Effort effort{Effort::normal};
  std::vector<std::string> series{};
  Bytes last_cache{};
  std::vector<int> work_items{};
  std::vector<int> loads{};
  std::vector<int> mergers{};
  std::vector<std::string> targets{};  ///< never empty

  explicit Asked(const Request& request);

  /// Whether --series names it, or nothing.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// Whether --series names it.
  [[nodiscard]] bool names(std::string_view name) const;
  [[nodiscard]] bool has_target(std::string_view target) const;
  /// Whether curves of certain numbers were asked for.
  [[nodiscard]] bool is_narrowed() const;
};

}  // namespace clprobe::inflight
