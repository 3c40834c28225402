// SPDX-License-Identifier: Apache-2.0
// Devices and points for the tests of `inflight`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"

namespace clprobe::inflight {

extern const Probe probe;

inline DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.compute_units = 132;
  device.cache_line = {128};
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.timer = Timer::clock;
  device.clock = {.kind = ClockKind::nvidia, .rate = ClockRate::core_cycles, .ticks_per_ns = 2.0};
  return device;
}

inline DeviceInfo cpu() {
  DeviceInfo device = gpu();
  device.type = DeviceType::cpu;
  device.sub_group_size = 1;
  device.cache_line = {64};
  return device;
}

inline Point block(int loads, int merger, MergerMode mode, int items) {
  Shape shape;
  shape.pattern = {loads, merger, mode, "cache"};
  shape.work_items = static_cast<std::uint64_t>(items);
  shape.sub_group = 32;
  shape.line_bytes = 128;
  shape.buffer_bytes = 1 << 20;
  Point point;
  point.series = "cache-x" + std::to_string(loads);
  write_shape(shape, point);
  return point;
}

}  // namespace clprobe::inflight
