// SPDX-License-Identifier: Apache-2.0
// What a ring is made of: its numbers, the memory that it is cut from, its order. Kept by the
// session from point to point.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "clprobe/device.hpp"
#include "probes/shared/cycle.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe {

/// The numbers of a point, read once.
struct Shape {
  std::uint64_t working_set_bytes;
  std::uint64_t buffer_bytes;
  cl_ulong step_bytes;
  cl_ulong line_bytes;
  std::uint32_t unroll;
  std::uint32_t nodes;

  explicit Shape(const Point& point)
      : working_set_bytes(read(point, "working_set_bytes")),
        buffer_bytes(static_cast<std::uint64_t>(point.facts.integer("buffer_bytes"))),
        step_bytes(read(point, "step_bytes")),
        line_bytes(read(point, "line_bytes")),
        unroll(static_cast<std::uint32_t>(read(point, "unroll"))),
        nodes(static_cast<std::uint32_t>(working_set_bytes / step_bytes)) {}

  static std::uint64_t read(const Point& point, std::string_view name) {
    return static_cast<std::uint64_t>(point.parameters.integer(name));
  }

  /// Byte offset of a node, as node_offset() in cl/latency.cl.
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t node) const {
    const std::uint32_t mixed = (node * 2654435761U) >> 16U;
    return node * step_bytes + (mixed * line_bytes) % step_bytes;
  }
};

/// Memory that rings are cut from, filled with random contents once.
struct Store {
  std::unique_ptr<HostMemory> host{};  // before the buffer that uses it, so that it outlives it
  cl::Buffer buffer{};
  int huge_page_percent{0};
};

/// Work-items for the launches that spread over the whole device.
struct Spread {
  std::uint64_t items;
  std::uint64_t group;
};

Spread spread_over(const DeviceInfo& device, std::uint64_t most_items);

/// The session's store for global rings, made anew when a larger one is needed. `options` build the
/// kernel that fills it.
Store& store_of(Session& session, const Shape& shape, const std::string& options);

/// The session's cycle for rings of such steps in such a buffer.
const NestedCycle& cycle_of(Session& session, const Shape& shape);

/// The table of SPACE 2 as a program text; addresses count `unit_bytes`.
std::string table_text(const Shape& shape, const std::vector<std::uint32_t>& order,
                       std::uint64_t unit_bytes);

}  // namespace clprobe
