// SPDX-License-Identifier: Apache-2.0
#include "unit/random_traces.hpp"

namespace clprobe::simulator {
namespace {

Latency random_latency(Random& random, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t least = random.from_to(low, high);
  return {least, least + (random.chance(0.5) ? random.below(40) : 0)};
}

/// One of the instructions that every warp may execute at any place.
Instruction random_instruction(Random& random) {
  const auto any = [&] { return static_cast<Register>(random.below(6)); };
  switch (random.below(12)) {
    case 0:
    case 1:
      return alu(any(), {any()});
    case 2:
      return special(any(), {any(), any()});
    case 3:
    case 4:
    case 5: {
      Instruction instruction = load(any(), random_lanes(random));
      instruction.is_written_elsewhere = random.chance(0.1);
      instruction.skips_l1 = random.chance(0.1);
      instruction.is_mapped = instruction.lanes.warp_step == 4096;  // without a draw of its own
      return instruction;
    }
    case 6: {
      Instruction instruction = store(random_lanes(random), {any()});
      instruction.is_mapped = instruction.lanes.warp_step == 4096;
      return instruction;
    }
    case 7:
      return atomic(any(), random_lanes(random));
    case 8: {
      Instruction instruction = local_load(any(), random_lanes(random));
      instruction.id = random.chance(0.5) ? 1 : 0;
      return instruction;
    }
    case 9:
      return local_store(random_lanes(random), {any()});
    case 10:
      return branch({any()});
    default:
      return read_clock(3, {any()});
  }
}

}  // namespace

Machine random_machine(Random& random) {
  Machine machine;
  machine.name = "random";
  machine.core.warp_width = random.one_of({16, 32, 64});
  machine.core.warp_contexts = random.from_to(1, 24);
  machine.core.max_work_group_size = machine.core.warp_width;
  machine.core.issue_width = random.from_to(1, 4);
  machine.core.scheduler = static_cast<Scheduler>(random.below(2));
  machine.core.pending_loads_per_warp = random.chance(0.3) ? random.from_to(1, 4) : 0;
  machine.core.branch_cycles = random.below(12);
  machine.core.barrier_cycles = random.from_to(1, 20);
  machine.instructions.start_cycles = machine.core.branch_cycles / 2;  // without a draw of its own
  machine.alu = {random.from_to(1, 3), random.from_to(1, 12), random.from_to(1, 3)};
  machine.special = {random.from_to(1, 2), random.from_to(1, 30), random.from_to(1, 8)};
  machine.load_store = {random.from_to(1, 3), random.from_to(1, 4), random.from_to(1, 3)};
  machine.load_store_units.count = machine.alu.count;  // 1 to 3, without a draw of its own
  machine.local.lanes_together = random.one_of({16, 32});
  machine.local.latency_cycles = random.from_to(1, 40);
  machine.local.way_cycles = random.from_to(1, 2);
  machine.l1.line_bytes = random.one_of({64, 128});
  machine.l1.sector_bytes = random.one_of({32, 64});
  machine.l1.ways = random.one_of({1, 2, 4});
  machine.l1.bytes = machine.l1.line_bytes * machine.l1.ways * random.below(20);
  machine.l1.latency_cycles = random.from_to(1, 50);
  machine.l1.keeps_loads = random.chance(0.8);
  machine.l1_banks.count = 4 * (machine.special.count - 1);  // the same
  machine.pending = {static_cast<PendingKind>(random.below(3)),
                     random.chance(0.2) ? 0 : random.from_to(1, 64),
                     random.chance(0.5) ? 0 : random.from_to(1, 8)};
  machine.store_buffer.entries = random.chance(0.2) ? 0 : random.from_to(1, 16);
  machine.l2.bytes = machine.l1.line_bytes * machine.l2.ways * random.below(50);
  machine.l2.latency_cycles = random_latency(random, 1, 200);
  machine.l2.bytes_per_cycle = static_cast<double>(random.from_to(4, 128));
  machine.l2.atomic_cycles = random.from_to(1, 5);
  machine.memory.latency_cycles = random_latency(random, 100, 500);
  machine.memory.bytes_per_cycle = static_cast<double>(random.from_to(2, 64));
  machine.copy = {random.from_to(1, 2), static_cast<CopyGranularity>(random.below(2))};
  machine.sharing = {static_cast<Coherence>(random.below(2)), random_latency(random, 50, 300)};
  return machine;
}

Lanes random_lanes(Random& random) {
  Lanes lanes;
  lanes.base = random.below(64) * 512;
  lanes.lane_step = static_cast<std::int64_t>(random.one_of({0, 4, 8, 36, 128, 132}));
  lanes.warp_step = static_cast<std::int64_t>(random.one_of({0, 128, 4096}));
  lanes.turn_step = static_cast<std::int64_t>(random.one_of({0, 64, 1024}));
  lanes.lane_group = static_cast<std::uint32_t>(random.one_of({1, 1, 2, 8}));
  lanes.warp_group = static_cast<std::uint32_t>(random.one_of({1, 1, 4}));
  lanes.active = random.chance(0.2) ? 3 : 0;
  lanes.bytes = static_cast<std::uint32_t>(random.one_of({4, 4, 8, 16}));
  if (random.chance(0.2)) {
    lanes.table = 0;
    lanes.table_lane = 1;
    lanes.table_turn = 5;
  }
  return lanes;
}

Trace random_trace(Random& random, const Machine& machine) {
  Trace trace;
  trace.tables.emplace_back();
  for (int i = 0; i < 50; ++i) trace.tables[0].push_back(random.below(1000) * 32);
  trace.locks = {{.address = 1 << 20, .held_elsewhere = {0, random.below(100)}}};
  Program program;
  const auto some = [&](std::uint64_t most) {
    const std::uint64_t count = random.from_to(1, most);
    for (std::uint64_t i = 0; i < count; ++i) program.push_back(random_instruction(random));
  };
  some(6);
  if (random.chance(0.4)) program.push_back(copy_in(1, random_lanes(random), 1024));
  const auto target = static_cast<std::uint32_t>(program.size());
  some(8);
  program.push_back(repeat(target, random.from_to(1, 6)));
  if (random.chance(0.5)) program.push_back(barrier());
  if (random.chance(0.4)) {
    program.push_back(acquire(0));
    some(3);
    program.push_back(release(0));
  }
  if (random.chance(0.3)) program.push_back(copy_out(2, random_lanes(random), 777));
  if (random.chance(0.5)) {
    program.push_back(copy_wait(static_cast<std::uint32_t>(random.from_to(1, 2))));
  }
  some(4);
  trace.programs = {program};
  const std::uint64_t groups = random.from_to(1, 4);
  for (std::uint64_t g = 0; g < groups; ++g) {
    const std::uint64_t warps = random.from_to(1, machine.core.warp_contexts);
    const std::uint64_t items =
        warps * machine.core.warp_width - random.below(machine.core.warp_width);
    trace.groups.push_back(make_group(machine, items, 0, static_cast<std::uint32_t>(g) * 100));
  }
  if (random.chance(0.5)) trace.resident = {{.base = 0, .bytes = 8192}};
  return trace;
}

Trace two_kinds_of_warps(const Machine& machine) {
  Trace trace;
  trace.programs = {
      {load(1, {.lane_step = 64, .warp_step = 4096, .turn_step = 1 << 16}), alu(2, {1}),
       repeat(0, 30)},
      {alu(1, {1}), special(2, {1}), repeat(0, 40)},
  };
  trace.groups = {make_group(machine, 16 * 32)};
  for (std::uint32_t w = 0; w < 16; ++w) trace.groups[0].warps[w].program = w % 2;
  return trace;
}

void permute(Random& random, Group& group) {
  for (std::size_t i = group.warps.size() - 1; i > 0; --i) {
    std::swap(group.warps[i], group.warps[random.below(i + 1)]);
  }
}

}  // namespace clprobe::simulator
