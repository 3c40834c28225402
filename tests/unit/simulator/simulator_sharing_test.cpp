// SPDX-License-Identifier: Apache-2.0
// Stores, locks, coherence, the copy engine, work that is shared out while running.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {
namespace {

Machine plain() {
  Machine machine;
  machine.l1 = {.bytes = 16384, .line_bytes = 128, .sector_bytes = 128, .ways = 4};
  machine.l1.latency_cycles = 20;
  machine.l2.latency_cycles = {200, 200};
  machine.l2.bytes_per_cycle = 128.0;
  machine.memory.latency_cycles = {500, 500};
  machine.memory.bytes_per_cycle = 128.0;
  machine.sharing.remote_latency_cycles = {300, 300};
  return machine;
}

constexpr Lanes one_line{.base = 4096, .lane_step = 4};

Trace one_warp(const Machine& machine, Program program) {
  Trace trace;
  trace.programs = {std::move(program)};
  trace.groups = {make_group(machine, machine.core.warp_width)};
  trace.locks = {{.address = 1U << 20U}};
  trace.resident = {{.base = 0, .bytes = 1U << 16U}};
  return trace;
}

std::uint64_t timed(const Machine& machine, const Trace& trace) {
  const Result result = simulate(machine, trace);
  return result.clock_reads.at(1).cycle - result.clock_reads.at(0).cycle;
}

/// Cycles of all contexts by their causes.
std::map<Causes, std::uint64_t> cycles_by_cause(const Machine& machine, const Trace& trace) {
  std::map<Causes, std::uint64_t> sums;
  Observer observer;
  observer.cycles = [&](const CycleState& state) {
    for (const WarpState& warp : state.warps) {
      const Causes causes = warp.causes;
      for (Causes bit = 1; bit <= causes; bit <<= 1U) {
        if ((causes & bit) != 0) sums[bit] += state.cycles;
      }
    }
  };
  static_cast<void>(simulate(machine, trace, {}, &observer));
  return sums;
}

}  // namespace

TEST_CASE("a store holds up nobody, and arrives at the end") {
  const Machine machine = plain();
  const Trace trace = one_warp(machine, {store(one_line), store(one_line), alu(1)});
  const Result result = simulate(machine, trace);
  CHECK(result.lines_written == 1);  // combined
  CHECK(result.flush_cycles == 200);
  CHECK(result.cycles == 2 + 4 + 200);
}

TEST_CASE("a full store buffer is flushed, and holds stores up until there is room") {
  Machine machine = plain();
  machine.store_buffer.entries = 4;
  const Program program{read_clock(0), store({.lane_step = 128}), store(one_line), read_clock(1)};
  const Trace trace = one_warp(machine, program);
  // Rounds of four lines, each with a flush; the second store waits for the unit.
  CHECK(timed(machine, trace) > 7 * 200);
  CHECK(cycles_by_cause(machine, trace)[cause::full_store_buffer] > 7 * 190);
  machine.store_buffer.entries = 0;
  CHECK(timed(machine, trace) == 1 + 32 + 1);
  CHECK(cycles_by_cause(machine, trace)[cause::full_store_buffer] == 0);
}

TEST_CASE("stores to a line are combined in one entry, until that is flushed") {
  Machine machine = plain();
  machine.store_buffer.entries = 1;
  const Program same{read_clock(0), store(one_line), repeat(1, 32), read_clock(1)};
  CHECK(timed(machine, one_warp(machine, same)) == 1 + 32);
  CHECK(simulate(machine, one_warp(machine, same)).lines_written == 1);
  CHECK(cycles_by_cause(machine, one_warp(machine, same))[cause::full_store_buffer] == 0);
  const Program apart{read_clock(0), store(one_line), store({.base = 8192, .lane_step = 4}),
                      store(one_line), read_clock(1)};
  CHECK(timed(machine, one_warp(machine, apart)) > 200);
  CHECK(simulate(machine, one_warp(machine, apart)).lines_written == 3);
}

TEST_CASE("a release waits for the flush and for its own way") {
  const Machine machine = plain();
  const Program with_store{read_clock(0), store(one_line), release(0), read_clock(1)};
  CHECK(timed(machine, one_warp(machine, with_store)) == 2 + 200 + 200);
  const Program without{read_clock(0), release(0), read_clock(1)};
  CHECK(timed(machine, one_warp(machine, without)) == 1 + 200);
  auto sums = cycles_by_cause(machine, one_warp(machine, with_store));
  CHECK(sums[cause::release] == 399);
}

TEST_CASE("while a release flushes, stores of other warps are held back") {
  const Machine machine = plain();
  Trace trace = one_warp(machine, {store(one_line), release(0)});
  trace.programs.push_back({read_clock(0), alu(1), store({.base = 8192}, {1}), read_clock(1)});
  trace.groups[0].warps.push_back({.program = 1, .lanes = 32, .number = 1});
  auto sums = cycles_by_cause(machine, trace);
  CHECK(sums[cause::pending_release] > 190);
  CHECK(timed(machine, trace) > 190);
}

TEST_CASE("where stores may pass a release, none waits for another warp's flush") {
  Machine machine = plain();
  machine.synchronization.stores_pass_releases = true;
  Trace trace = one_warp(machine, {store(one_line), release(0)});
  trace.programs.push_back({read_clock(0), alu(1), store({.base = 8192}, {1}), read_clock(1)});
  trace.groups[0].warps.push_back({.program = 1, .lanes = 32, .number = 1});
  CHECK(cycles_by_cause(machine, trace)[cause::pending_release] == 0);
  CHECK(timed(machine, trace) < 10);
  // The release itself waits for the stores before it as ever.
  const Program releasing{read_clock(0), store(one_line), release(0), read_clock(1)};
  CHECK(timed(machine, one_warp(machine, releasing)) >= 2 + 200 + 200);
}

TEST_CASE("an owned lock takes the way to the first level, unless other units want it") {
  Machine machine = plain();
  const Program program{read_clock(0), acquire(0), read_clock(1), release(0)};
  Trace trace = one_warp(machine, program);
  CHECK(timed(machine, trace) == 1 + 200);
  machine.synchronization.owns_atomics = true;
  CHECK(timed(machine, trace) == 1 + 20);
  const Program releasing{acquire(0), read_clock(0), release(0), read_clock(1)};
  CHECK(timed(machine, one_warp(machine, releasing)) == 1 + 20);
  // Behind the stores that it publishes.
  const Program publishing{acquire(0), read_clock(0), store(one_line), release(0), read_clock(1)};
  CHECK(timed(machine, one_warp(machine, publishing)) == 2 + 200 + 20);
  trace.locks[0].held_elsewhere = {1, 1};
  CHECK(timed(machine, trace) == 1 + 200);
}

TEST_CASE("an acquire empties the first-level cache; what is owned stays") {
  Machine machine = plain();
  const Program program{load(1, one_line), store(one_line, {1}), release(0),         acquire(0),
                        read_clock(0),     load(2, one_line),    read_clock(1, {2}), release(0)};
  CHECK(timed(machine, one_warp(machine, program)) == 1 + 200);
  machine.sharing.coherence = Coherence::ownership;
  CHECK(timed(machine, one_warp(machine, program)) == 1 + 20);
  // Only read, never written: not owned.
  const Program reader{load(1, one_line),      acquire(0),         read_clock(0),
                       load(2, one_line, {1}), read_clock(1, {2}), release(0)};
  CHECK(timed(machine, one_warp(machine, reader)) == 1 + 200);
}

TEST_CASE("a release of what is owned already has nothing to flush") {
  Machine machine = plain();
  const Program program{store(one_line), release(0), read_clock(0),
                        store(one_line), release(0), read_clock(1)};
  CHECK(timed(machine, one_warp(machine, program)) == 2 + 200 + 200);
  machine.sharing.coherence = Coherence::ownership;
  CHECK(timed(machine, one_warp(machine, program)) == 2 + 200);
}

TEST_CASE("what another unit wrote comes from the second level, or from its owner") {
  Machine machine = plain();
  Program program{load(1, one_line), read_clock(0, {1}), load(2, one_line), read_clock(1, {2})};
  CHECK(timed(machine, one_warp(machine, program)) == 1 + 20);
  program[2].is_written_elsewhere = true;
  CHECK(timed(machine, one_warp(machine, program)) == 1 + 200);
  machine.sharing.coherence = Coherence::ownership;
  CHECK(timed(machine, one_warp(machine, program)) == 1 + 300);
  const Result result = simulate(machine, one_warp(machine, program));
  CHECK(result.served_by[static_cast<std::size_t>(Level::remote_l1)] == 1);
}

TEST_CASE("of many warps one at a time has the lock") {
  const Machine machine = plain();
  Trace trace = one_warp(machine, {acquire(0), read_clock(0), load(1, one_line), alu(2, {1}),
                                   store(one_line, {2}), read_clock(1), release(0)});
  trace.groups = {make_group(machine, 512)};
  const Result result = simulate(machine, trace);
  REQUIRE(result.clock_reads.size() == 32);
  std::map<std::uint32_t, bool> seen;
  for (std::size_t i = 0; i < 32; i += 2) {
    // Entering and leaving alternate, by the same warp: no two critical sections overlap.
    CHECK(result.clock_reads[i].id == 0);
    CHECK(result.clock_reads[i + 1].id == 1);
    CHECK(result.clock_reads[i].warp == result.clock_reads[i + 1].warp);
    seen[result.clock_reads[i].warp] = true;
  }
  CHECK(seen.size() == 16);
  // Who does not get it tries again, which takes issue slots.
  CHECK(result.warp_instructions > 16 * 7);
  // Others that want the lock, too, hold it in between.
  trace.locks[0].held_elsewhere = {1000, 1000};
  CHECK(simulate(machine, trace).cycles > result.cycles + 15 * 900);
}

TEST_CASE("atomics on a line go one after another") {
  Machine machine = plain();
  machine.l2.atomic_cycles = 10;
  Trace same = one_warp(machine, {atomic(1, {.base = 64})});
  same.groups = {make_group(machine, 512)};
  Trace apart = same;
  apart.programs[0][0].lanes.warp_step = 128;
  CHECK(simulate(machine, same).cycles == 200 + 15 * 10);
  CHECK(simulate(machine, apart).cycles == 200 + 15);
}

TEST_CASE("the copy engine works beside the warps") {
  Machine machine = plain();
  const Lanes from{.base = 0};
  const Program waits{read_clock(0), copy_in(1, from, 64 * 128), copy_wait(1), read_clock(1)};
  // The first line a cycle after the instruction, then one a cycle; the wait itself issues.
  CHECK(timed(machine, one_warp(machine, waits)) == 1 + 1 + 63 + 200 + 1);
  Program overlaps = waits;
  overlaps.insert(overlaps.begin() + 2, {alu(1, {1}), repeat(2, 60)});
  CHECK(timed(machine, one_warp(machine, overlaps)) == 1 + 1 + 63 + 200 + 1);
  machine.copy.requests_per_cycle = 4;
  machine.l2.bytes_per_cycle = 4 * 128.0;
  CHECK(timed(machine, one_warp(machine, waits)) == 1 + 1 + 15 + 200 + 1);
  // Its requests take entries of the pending table like those of loads.
  machine.pending.entries = 8;
  CHECK(timed(machine, one_warp(machine, waits)) > 8 * 200);
  machine.pending = {.kind = PendingKind::prt, .entries = 1};
  CHECK(timed(machine, one_warp(machine, waits)) == 1 + 1 + 15 + 200 + 1);
}

TEST_CASE("an access to what is still being copied waits, by core or by warp") {
  Machine machine = plain();
  Instruction needs_copy = local_load(1, {.lane_step = 4});
  needs_copy.id = 1;
  Trace trace = one_warp(machine, {copy_in(1, {.base = 0}, 64 * 128), alu(2), needs_copy});
  // A second warp that has copied nothing, but reads local memory that some copy fills.
  trace.programs.push_back(
      {alu(2), alu(2, {2}), read_clock(0, {2}), needs_copy, read_clock(1, {1})});
  trace.groups[0].warps.push_back({.program = 1, .lanes = 32, .number = 1});
  CHECK(timed(machine, trace) == 1 + 30);
  machine.copy.granularity = CopyGranularity::core;
  CHECK(timed(machine, trace) > 200);
  CHECK(cycles_by_cause(machine, trace)[cause::pending_copy] > 400);
}

TEST_CASE("a copy out has arrived when its wait ends") {
  const Machine machine = plain();
  const Program program{read_clock(0), copy_out(3, {.base = 0}, 16 * 128), copy_wait(3),
                        read_clock(1)};
  CHECK(timed(machine, one_warp(machine, program)) == 1 + 1 + 15 + 200 + 1);
  const Program does_not_wait{copy_out(3, {.base = 0}, 16 * 128)};
  CHECK(simulate(machine, one_warp(machine, does_not_wait)).cycles == 1 + 15 + 200);
}

TEST_CASE("work can be shared out while running") {
  const Machine machine = plain();
  Trace trace = one_warp(machine, {acquire(0), release(0)});
  trace.programs.push_back({read_clock(7), alu(1, {1}), repeat(1, 20), acquire(0), release(0)});
  trace.groups = {make_group(machine, 8 * 32)};
  int left = 100;
  trace.next_program = [&left](std::uint32_t, std::uint64_t) -> std::uint32_t {
    return left-- > 0 ? 1 : 99;
  };
  const Result result = simulate(machine, trace);
  CHECK(result.clock_reads.size() == 100);
  left = 100;
  Options steps;
  steps.skips_idle = false;
  CHECK(simulate(machine, trace, steps) == result);
}

}  // namespace clprobe::simulator
