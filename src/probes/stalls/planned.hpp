// SPDX-License-Identifier: Apache-2.0
// What the tests plan for: a GPU with clocks and event times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::stalls {

extern const Probe probe;

inline DeviceInfo gpu() {
  DeviceInfo device;
  device.type = DeviceType::gpu;
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.global_memory = gibibytes(140);
  device.max_allocation = gibibytes(35);
  device.local_memory = kibibytes(48);
  device.clock.kind = ClockKind::nvidia;
  device.clock.ticks_per_ns = 2.0;
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  return device;
}

inline Plan plan_of(std::vector<std::string> cases, const DeviceInfo& device = gpu()) {
  Request request;
  request.own.set("case", std::move(cases));
  return probe.plan(device, request);
}

}  // namespace clprobe::stalls
