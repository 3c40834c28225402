// SPDX-License-Identifier: Apache-2.0
// Compute units that run ahead of each other: the same to the cycle as step by step in order.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "clprobe/free_cores.hpp"
#include "clprobe/simulator.hpp"
#include "simulator/gate.hpp"
#include "simulator/grid.hpp"
#include "simulator/lookahead.hpp"
#include "simulator/meeting.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

struct UnitsAtWork {
  Machine machine{};
  Trace trace{};
  std::size_t units{2};
};

Options limited() {
  Options options;
  options.max_cycles = 10000000;
  return options;
}

/// What of an instruction's kind units can do ahead, and stores.
Instruction random_instruction(Random& random) {
  const auto any = [&] { return static_cast<Register>(random.below(6)); };
  switch (random.below(8)) {
    case 0:
      return alu(any(), {any()});
    case 1:
      return local_load(any(), random_lanes(random));
    case 2:
      return random.chance(0.5) ? barrier() : branch({any()});
    case 3:
      return store(random_lanes(random), {any()});
    default: {
      Instruction instruction = load(any(), random_lanes(random));
      if (random.chance(0.5)) instruction.lanes.lane_step = 128;
      instruction.skips_l1 = random.chance(0.1);
      return instruction;
    }
  }
}

/// A small and contended second level, and groups that units take as they have room.
UnitsAtWork random_units(Random& random) {
  UnitsAtWork made{.machine = random_machine(random), .units = random.from_to(2, 5)};
  Machine& machine = made.machine;
  machine.sharing.coherence = Coherence::gpu;
  machine.load_store.units = 1;
  machine.pending.kind = PendingKind::mshr;
  if (random.chance(0.7)) machine.load_store.lines_per_interval = 1;
  if (random.chance(0.7)) machine.l1_banks.count = 0;
  if (random.chance(0.5)) machine.l1.sector_bytes = machine.l1.line_bytes;
  machine.l2.latency_cycles.low += 16;
  machine.l2.latency_cycles.high += 16;
  machine.l2_banks.count = random.below(9);
  machine.l2.bytes = machine.l1.line_bytes * machine.l2.ways * random.below(20);
  Program program;
  const std::uint64_t instructions = random.from_to(1, 6);
  for (std::uint64_t i = 0; i < instructions; ++i) program.push_back(random_instruction(random));
  program.push_back(repeat(0, random.from_to(1, 8)));
  made.trace.programs = {program};
  made.trace.tables.emplace_back();
  for (int i = 0; i < 50; ++i) made.trace.tables[0].push_back(random.below(1000) * 32);
  for (std::uint32_t group = 0; group < random.from_to(2, 9); ++group) {
    const std::uint64_t warps = random.from_to(1, machine.core.warp_contexts);
    made.trace.groups.push_back(
        make_group(machine, warps * machine.core.warp_width, 0, group * 100));
  }
  return made;
}

/// Who is watched goes in order.
std::vector<Result> run_in_order(const UnitsAtWork& made) {
  const Observer nobody;
  const std::vector<const Observer*> observers(made.units, &nobody);
  return simulate_units(made.machine, made.trace, made.units, limited(), observers);
}

/// Four units that do the same.
UnitsAtWork four_units(const Machine& machine, const Program& body, std::uint64_t work_items) {
  UnitsAtWork made{.machine = machine, .units = 4};
  made.trace.programs = {body};
  for (std::uint32_t unit = 0; unit < made.units; ++unit) {
    made.trace.groups.push_back(make_group(machine, work_items, 0, 100 * unit));
  }
  made.machine.core.warp_contexts = made.trace.groups.front().warps.size();
  made.machine.core.max_work_group_size = work_items;
  return made;
}

std::uint64_t shared_windows(const UnitsAtWork& made) {
  Grid grid(made.machine, made.trace, made.units, {}, {});
  grid.run_until(Options{}.max_cycles, 2);
  REQUIRE(grid.lookahead());
  return grid.lookahead()->shared_windows();
}

}  // namespace

TEST_CASE("units that run ahead end with what they do in order, in any number of threads") {
  Random random(20261130);
  int ahead = 0;
  for (int round = 0; round < rounds(300); ++round) {
    CAPTURE(round);
    const UnitsAtWork made = random_units(random);
    const std::vector<Result> in_order = run_in_order(made);
    for (const std::size_t threads : {1U, 2U, 3U}) {
      CAPTURE(threads);
      Grid grid(made.machine, made.trace, made.units, limited(), {});
      if (grid.lookahead()) ++ahead;
      grid.run_until(limited().max_cycles + 1, threads);
      REQUIRE(grid.run() == in_order);
      if (round % 10 != 0) break;
    }
  }
  CHECK(ahead > rounds(300) / 2);
}

TEST_CASE("units that run ahead may stop anywhere, and go on in other threads") {
  Random random(3);
  for (int round = 0; round < rounds(40); ++round) {
    CAPTURE(round);
    const UnitsAtWork made = random_units(random);
    const std::vector<Result> in_order = run_in_order(made);
    Grid grid(made.machine, made.trace, made.units, limited(), {});
    std::uint64_t end = 0;
    for (const std::size_t threads : {1U, 2U, 1U, 3U, 2U}) {
      end += random.below(400);
      const bool is_patient = random.chance(0.5);
      using Time = Progress::Clock::time_point;
      grid.run_until(end, threads, is_patient ? Time::max() : Time::min());
    }
    REQUIRE(grid.run() == in_order);
    FreeCores cores(2);
    Options by_pace = limited();
    by_pace.cores = &cores;
    REQUIRE(simulate_units(made.machine, made.trace, made.units, by_pace) == in_order);
  }
}

TEST_CASE("a load that joins an earlier one is through before what was sent between them") {
  Random random(7);
  for (int round = 0; round < rounds(60); ++round) {
    CAPTURE(round);
    UnitsAtWork made{.machine = preset("fermi-m2070")};
    Machine& machine = made.machine;
    machine.l2.latency_cycles = {100, 100};
    machine.memory.latency_cycles = {100, 100};
    machine.load_store.interval_cycles = 16;
    machine.core.warp_contexts = 2;
    machine.core.max_work_group_size = 64;
    // One warp waits for a line that it asks for twice, with another one between; and one goes on.
    const Lanes lanes{.warp_step = 128, .turn_step = 1024};
    Lanes others = lanes;
    others.base = 1U << 20U;
    made.trace.programs = {{alu(5, {5}), repeat(0, 30)}};
    for (std::uint32_t group = 0; group < 8; ++group) {
      Program program{load(1, lanes), load(2, others), load(3, lanes), read_clock(1, {3})};
      program.push_back(repeat(0, 3));
      program.push_back(alu(5, {5}));  // so that units end at different times
      program.push_back(repeat(5, random.from_to(1, 60)));
      made.trace.programs.push_back(program);
      made.trace.groups.push_back(make_group(machine, 64, 0, 10 * group));
      made.trace.groups.back().warps[0].program = group + 1;
    }
    REQUIRE(simulate_units(machine, made.trace, made.units, limited()) == run_in_order(made));
  }
}

TEST_CASE("a window is as long as the least latency, where units share nothing but lines") {
  const Machine gsi = preset("gsi");
  Trace trace;
  trace.programs = {{load(1, {.lane_step = 4}), store({}, {1})}};
  trace.groups = {make_group(gsi, 32)};
  const auto window = [&](const Machine& machine) {
    return window_of(machine, trace, 2, {}, false);
  };
  CHECK(window(gsi) == 29);
  CHECK(window_of(gsi, trace, 1, {}, false) == 0);
  CHECK(window_of(gsi, trace, 2, {}, true) == 0);
  Machine near = gsi;
  near.memory.latency_cycles = {16, 20};
  CHECK(window(near) == 16);
  near.memory.latency_cycles = {15, 20};
  CHECK(window(near) == 0);
  Machine owning = gsi;
  owning.sharing.coherence = Coherence::ownership;
  CHECK(window(owning) == 0);
  Machine pool = gsi;
  pool.pending.kind = PendingKind::request_pool;
  CHECK(window(pool) == 0);
  trace.programs[0].push_back(atomic(1, {}));
  CHECK(window(gsi) == 0);
  trace.programs[0].back() = load(1, {});
  trace.programs[0].back().is_mapped = true;
  CHECK(window(gsi) == 0);
  trace.programs[0].pop_back();
  trace.next_program = [](std::uint32_t, std::uint64_t) { return 1U; };
  CHECK(window(gsi) == 0);
}

TEST_CASE("threads meet where there is work for them, and leave the rest to one") {
  const Program sums{alu(1, {1}), alu(2, {2}), repeat(0, 1000)};
  CHECK(shared_windows(four_units(preset("hopper-like"), sums, 1024)) > 20);
  const Program chase{load(1, {.turn_step = 128}, {1}), repeat(0, 200)};
  CHECK(shared_windows(four_units(preset("hopper-like"), chase, 1)) == 0);
}

TEST_CASE("what runs ahead and comes to what is shared is told of") {
  Gate gate;
  gate.pass();
  gate.close();
  CHECK_THROWS_AS(gate.pass(), std::logic_error);
  gate.open();
  gate.pass();
}

TEST_CASE("threads that meet wait for all, and for what the first one does") {
  constexpr std::size_t threads = 3;
  Meeting meeting(threads);
  int sum = 0;  // written by one at a time
  std::array<int, threads> seen{};
  REQUIRE(run_together(threads, [&](std::size_t thread) {
    const auto meet = [&](int add) {
      if (thread != 0) {
        meeting.attend();
        return;
      }
      meeting.begin();
      sum += add;
      meeting.end();
    };
    for (int round = 1; round <= 200; ++round) {
      meet(1);
      if (sum == round) ++seen.at(thread);
      meet(0);
    }
  }));
  CHECK(seen == std::array<int, threads>{200, 200, 200});
}

}  // namespace clprobe::simulator
