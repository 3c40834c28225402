// SPDX-License-Identifier: Apache-2.0
// Options of the probe `inflight`, read once, and the memory that its loads go to. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"

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

}  // namespace clprobe::inflight
