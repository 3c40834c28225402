// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"

namespace clprobe::simulator {
namespace {

/// Cycles between two clock reads of one warp with nothing in between.
std::uint64_t clock_overhead(const Machine& machine) {
  Trace trace;
  trace.programs = {{read_clock(0), read_clock(1)}};
  trace.groups = {make_group(machine, 1)};
  const Result result = simulate(machine, trace);
  return result.clock_reads.at(1).cycle - result.clock_reads.at(0).cycle;
}

}  // namespace

DeviceInfo describe_device(const Machine& machine) {
  check(machine);
  const auto whole = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  DeviceInfo device;
  device.platform = "clprobe simulator";
  device.name = "simulated " + machine.name;
  device.type = DeviceType::simulated;
  device.vendor = "clprobe";
  device.driver = "cycle by cycle";
  device.version = "no OpenCL";
  device.compute_units = whole(machine.core.compute_units);
  device.sub_group_size = whole(machine.core.warp_width);
  device.max_work_group_size = whole(machine.core.max_work_group_size);
  device.global_memory = {machine.memory.bytes};
  device.max_allocation = {machine.memory.bytes / 4};
  device.local_memory = {machine.local.bytes};
  device.cache_line = {machine.l1.line_bytes};
  device.pointers_stay_valid = true;
  const double rate = machine.core.clock_ghz;
  device.clock = {.kind = ClockKind::simulated,
                  .rate = ClockRate::core_cycles,
                  .overhead_ticks = clock_overhead(machine),
                  .quantum_ticks = 1,
                  .ticks_per_ns = rate,
                  .ticks_per_ns_low = rate,
                  .ticks_per_ns_high = rate,
                  .r_squared = 1.0};
  device.timer = Timer::clock;
  device.launch_timer = Timer::event;
  device.reported.set("cache_bytes", whole(machine.l2.bytes));
  device.reported.set("machine", to_json_line(machine));
  return device;
}

}  // namespace clprobe::simulator
