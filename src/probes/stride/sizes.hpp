// SPDX-License-Identifier: Apache-2.0
// What the probe `stride` was asked for, and the series and sizes that follow from it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/stride/shape.hpp"

namespace clprobe::stride {

/// The request, read once. What is 0, empty or nothing is the probe's choice.
struct Asked {
  explicit Asked(const Request& request);

  Effort effort{};
  Bytes max_memory{};
  Bytes last_cache{};
  std::uint64_t elements{};
  std::uint64_t grid{};
  std::uint64_t work_group{};
  std::vector<ElementType> types{};
  std::vector<int> vectors{};
  std::vector<Operation> operations{};
  std::vector<BufferKind> buffers{};
  std::optional<Timer> timer{};
  bool is_whole{false};  ///< each launch moves the whole buffer
};

/// One series: what is done with which elements, and where.
struct Kind {
  Operation operation{Operation::read};
  ElementType type{ElementType::int32};
  int vector{1};
  BufferKind buffer{BufferKind::device};

  [[nodiscard]] std::uint64_t element_bytes() const {
    return word_bytes_of(type) * static_cast<std::uint64_t>(vector);
  }
  /// "read int4", "copy double in host memory".
  [[nodiscard]] std::string name() const;
};

std::vector<Kind> choose_kinds(const DeviceInfo& device, const Asked& asked);

/// Buffers that exist at once while these kinds are measured.
std::uint64_t count_buffers(const std::vector<Kind>& kinds);

/// Bytes of the widest element.
std::uint64_t widest_element(const std::vector<Kind>& kinds);

/// What checking results takes beside buffers of so many bytes, on the device and on the host.
Bytes memory_of_checks(const DeviceInfo& device, const std::vector<Kind>& kinds, Bytes buffer);

/// The largest buffer that all kinds can have. Elements that were asked for are measured if they
/// fit; else a quarter of the memory is left to others.
Bytes max_buffer(const DeviceInfo& device, const Asked& asked, const std::vector<Kind>& kinds);

/// The largest work-group that is a power of two.
std::uint64_t max_work_group(const DeviceInfo& device);

/// How many elements, work-items and work-items per work-group: as asked, or as the device needs.
struct Dimensions {
  std::uint64_t elements{1};
  std::uint64_t grid{1};
  std::uint64_t work_group{1};
};

Dimensions choose_dimensions(const DeviceInfo& device, const Asked& asked,
                             const std::vector<Kind>& kinds, const Kind& kind);

}  // namespace clprobe::stride
