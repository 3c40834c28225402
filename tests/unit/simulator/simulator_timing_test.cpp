// SPDX-License-Identifier: Apache-2.0
// Cycles that can be said in advance: one warp, one load; chains; throughputs; ways of banks.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "simulation/simulator/addresses.hpp"
#include "unit/random_traces.hpp"

namespace clprobe::simulator {
namespace {

/// One of everything, round numbers, no randomness.
Machine plain() {
  Machine machine;
  machine.alu = {.count = 1, .latency_cycles = 5, .interval_cycles = 1};
  machine.l1.latency_cycles = 20;
  machine.l2.latency_cycles = {200, 200};
  machine.l2.bytes_per_cycle = 128.0;
  machine.memory.latency_cycles = {500, 500};
  machine.memory.bytes_per_cycle = 128.0;
  return machine;
}

Trace one_group(const Machine& machine, Program program, std::uint64_t work_items) {
  Trace trace;
  trace.programs = {std::move(program)};
  trace.groups = {make_group(machine, work_items)};
  return trace;
}

/// Cycles between the clock reads 0 and 1 of the first warp.
std::uint64_t timed(const Machine& machine, const Trace& trace) {
  const Result result = simulate(machine, trace);
  std::uint64_t times[2]{};
  for (const ClockRead& read : result.clock_reads) {
    if (read.warp == 0) times[read.id] = read.cycle;
  }
  return times[1] - times[0];
}

constexpr Lanes anywhere{.base = 4096, .lane_step = 4};

}  // namespace

TEST_CASE("one warp and one load take an issue cycle and the latency of where it is served") {
  const Machine machine = plain();
  Trace trace = one_group(machine, {read_clock(0), load(1, anywhere), read_clock(1, {1})}, 1);
  CHECK(timed(machine, trace) == 1 + 500);
  trace.resident = {{.home = Resident::Home::l2, .base = 4096, .bytes = 128}};
  CHECK(timed(machine, trace) == 1 + 200);
  trace.resident = {{.home = Resident::Home::l1, .base = 4096, .bytes = 128}};
  CHECK(timed(machine, trace) == 1 + 20);
  trace.programs[0][1].skips_l1 = true;
  CHECK(timed(machine, trace) == 1 + 200);
}

TEST_CASE("an access across two lines asks for the sectors that it touches of both") {
  const FirstLevel l1{.line_bytes = 128, .sector_bytes = 32};
  std::vector<LineRequest> requests;
  coalesce(std::vector<std::uint64_t>{124}, 8, l1, requests);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].line == 0);
  CHECK(requests[0].sectors == 8U);  // the fourth
  CHECK(requests[1].line == 1);
  CHECK(requests[1].sectors == 1U);
}

TEST_CASE("a load of a line that is on its way has its value when the line comes, not before") {
  const Machine machine = plain();
  // The first load leaves at 1, and its line is there at 501; the second one's value with it.
  const Trace trace = one_group(
      machine, {read_clock(0), load(1, anywhere), load(2, anywhere), read_clock(1, {2})}, 1);
  CHECK(timed(machine, trace) == 1 + 500);
}

TEST_CASE("a chain of dependent loads takes its latency times its length") {
  const Machine machine = plain();
  // Every hop in another line, each line once: misses all the way.
  constexpr std::uint64_t hops = 1000;
  Trace trace;
  trace.tables.emplace_back(hops);
  for (std::uint64_t k = 0; k < hops; ++k) trace.tables[0][k] = (k * 7 % hops) * 128;
  const Lanes hop{.base = 1U << 20U, .table = 0, .table_turn = 1};
  trace.programs = {{read_clock(0), load(1, hop, {1}), repeat(1, hops), read_clock(1, {1})}};
  trace.groups = {make_group(machine, 1)};
  CHECK(timed(machine, trace) == 1 + 500 * hops);
  // The L1 holds 128 lines: with fewer in the ring all but the first lap hit.
  trace.tables[0].resize(100);
  CHECK(timed(machine, trace) == 1 + 500 * 100 + 20 * 900);
}

TEST_CASE("a line of a page that is not translated is on its way that much longer") {
  Machine machine = plain();
  machine.l1.keeps_loads = false;
  machine.translation = {.entries = 2, .page_bytes = 4096, .miss_cycles = 90};
  Trace trace;
  const Lanes hop{.base = 1U << 20U, .table = 0, .table_turn = 1};
  trace.groups = {make_group(machine, 1)};
  trace.resident = {{.home = Resident::Home::l2, .base = 1U << 20U, .bytes = 1U << 16U}};
  const auto cycles_of = [&](const std::vector<std::uint64_t>& pages) {
    trace.tables = {{}};
    for (const std::uint64_t page : pages) trace.tables[0].push_back(page * 4096);
    trace.programs = {
        {read_clock(0), load(1, hop, {1}), repeat(1, pages.size()), read_clock(1, {1})}};
    return timed(machine, trace) - 1;
  };
  CHECK(cycles_of({0}) == 200 + 90);
  CHECK(cycles_of({0, 1, 0, 1}) == 4 * 200 + 2 * 90);
  CHECK(cycles_of({0, 1, 2, 0, 1, 2}) == 6 * 200 + 6 * 90);
  // The least recently used goes: page 1, and then page 2.
  CHECK(cycles_of({0, 1, 0, 2, 0, 1}) == 6 * 200 + 4 * 90);
  // The last lines of one page and the first of the next are two.
  trace.tables = {{4096 - 128, 4096}};
  trace.programs = {{read_clock(0), load(1, hop, {1}), repeat(1, 2), read_clock(1, {1})}};
  CHECK(timed(machine, trace) - 1 == 2 * 200 + 2 * 90);
  // What the first level holds is found by the address as it is.
  machine.l1.keeps_loads = true;
  trace.resident = {{.home = Resident::Home::l1, .base = 1U << 20U, .bytes = 1U << 13U}};
  CHECK(timed(machine, trace) - 1 == 2 * 20);
  machine.translation.entries = 0;
  machine.l1.keeps_loads = false;
  trace.resident.clear();
  CHECK(timed(machine, trace) - 1 == 2 * 500);
}

TEST_CASE("a hundred thousand hops need no memory of that length") {
  const Machine machine = plain();
  const Lanes hop{.base = 0, .turn_step = 128};
  const Trace trace = one_group(
      machine, {read_clock(0), load(1, hop, {1}), repeat(1, 100000), read_clock(1, {1})}, 1);
  CHECK(timed(machine, trace) == 1 + 500 * std::uint64_t{100000});
}

TEST_CASE("dependent and independent arithmetic") {
  Machine machine = plain();
  const Program chain{read_clock(0), alu(1, {1}), repeat(1, 100), read_clock(1, {1})};
  CHECK(timed(machine, one_group(machine, chain, 1)) == 1 + 5 * 100);
  // Ten warps fill the latency of five: one instruction a cycle.
  const Result filled = simulate(machine, one_group(machine, {alu(1, {1}), repeat(0, 100)}, 320));
  CHECK(filled.warp_instructions == 1000);
  CHECK(filled.cycles == 1000 - 1 + 5);
  machine.alu.interval_cycles = 2;
  const Result slower = simulate(machine, one_group(machine, {alu(1, {1}), repeat(0, 100)}, 320));
  CHECK(slower.cycles == 2 * (1000 - 1) + 5);
  // Two pipelines, but only one issue slot; then two of both.
  machine.alu.count = 2;
  CHECK(simulate(machine, one_group(machine, {alu(1, {1}), repeat(0, 100)}, 320)).cycles == 1004);
  machine.alu.interval_cycles = 1;
  machine.core.issue_width = 2;
  CHECK(simulate(machine, one_group(machine, {alu(1, {1}), repeat(0, 100)}, 320)).cycles == 504);
}

TEST_CASE("the load/store unit takes a line every interval") {
  Machine machine = plain();
  machine.pending.entries = 0;
  Trace trace =
      one_group(machine, {read_clock(0), load(1, {.lane_step = 128}), read_clock(1, {1})}, 32);
  trace.resident = {{.home = Resident::Home::l2, .base = 0, .bytes = 32 * 128}};
  CHECK(timed(machine, trace) == 1 + 200 + 31);
  machine.load_store.interval_cycles = 3;
  CHECK(timed(machine, trace) == 1 + 200 + 3 * 31);
  machine.load_store = {.queue_instructions = 1, .lines_per_interval = 8, .interval_cycles = 1};
  machine.l2.bytes_per_cycle = 8 * 128.0;
  CHECK(timed(machine, trace) == 1 + 200 + 3);
}

TEST_CASE("bandwidth bounds a stream") {
  Machine machine = plain();
  machine.pending.entries = 0;
  machine.l1.bytes = 0;
  machine.l2.bytes_per_cycle = 8.0;  // a line of 128 bytes in 16 cycles
  // 32 warps have enough under way: 200 cycles of latency are 12.5 lines, 500 are 15.6.
  constexpr std::uint64_t turns = 50;
  const Lanes stream{.base = 0, .lane_step = 4, .warp_step = 128, .turn_step = 32 * 128};
  Trace trace = one_group(machine, {load(1, stream), repeat(0, turns)}, 1024);
  const std::uint64_t lines = 32 * turns;
  trace.resident = {{.home = Resident::Home::l2, .base = 0, .bytes = lines * 128}};
  const auto near = static_cast<double>(simulate(machine, trace).cycles);
  CHECK(near == doctest::Approx(static_cast<double>(lines) * 16).epsilon(0.02));
  trace.resident.clear();
  machine.memory.bytes_per_cycle = 4.0;
  const auto far = static_cast<double>(simulate(machine, trace).cycles);
  CHECK(far == doctest::Approx(static_cast<double>(lines) * 32).epsilon(0.03));
}

TEST_CASE("only the sectors that are asked for pass") {
  Machine machine = plain();
  machine.pending.entries = 0;
  machine.memory.bytes_per_cycle = 1.0;
  const auto cycles = [&](std::int64_t lane_step) {
    const Lanes lanes{
        .base = 0, .lane_step = lane_step, .warp_step = 32 * 128, .turn_step = 16 * 32 * 128};
    return static_cast<double>(
        simulate(machine, one_group(machine, {load(1, lanes), repeat(0, 10)}, 512)).cycles);
  };
  // A word of every line is one sector of 32 bytes in each; 32 words side by side are four sectors.
  CHECK(cycles(128) == doctest::Approx(160 * 32 * 32.0).epsilon(0.02));
  CHECK(cycles(4) == doctest::Approx(160 * 4 * 32.0).epsilon(0.05));
}

TEST_CASE("local memory takes its latency and as many ways as its busiest bank has words") {
  const Machine machine = plain();
  const auto cycles = [&](const Machine& each, std::int64_t stride_bytes, std::uint32_t bytes) {
    const Lanes lanes{.base = 0, .lane_step = stride_bytes, .bytes = bytes};
    return timed(each, one_group(each, {read_clock(0), local_load(1, lanes), read_clock(1, {1})},
                                 each.core.warp_width));
  };
  for (std::int64_t stride = 1; stride <= 64; ++stride) {
    CAPTURE(stride);
    const auto ways = static_cast<std::uint64_t>(std::gcd(stride, 32));
    CHECK(cycles(machine, stride * 4, 4) == 1 + 30 + (ways - 1));
  }
  CHECK(cycles(machine, 0, 4) == 31);      // all lanes one word
  CHECK(cycles(machine, 8, 8) == 31 + 1);  // two parts of 16 lanes
  Machine slow = machine;
  slow.local.way_cycles = 2;
  CHECK(cycles(slow, 32 * 4, 4) == 31 + 2 * 31);
  Machine wide = machine;  // 64 lanes, 32 at once
  wide.core.warp_width = 64;
  CHECK(cycles(wide, 4, 4) == 31 + 1);
  CHECK(cycles(wide, 8, 4) == 31 + 3);
  Machine broad = machine;  // banks of 8 bytes: pairs of words lie in one
  broad.local.bank_bytes = 8;
  CHECK(cycles(broad, 4, 4) == 31);
  CHECK(cycles(broad, 8, 8) == 31);
  CHECK(cycles(broad, 16, 8) == 31 + 1);
}

TEST_CASE("local throughput is one way a cycle") {
  const Machine machine = plain();
  // Okamoto's experiment: w warps, l loads, k ways; their slope is 1.047 cycles on a GTX 780 Ti.
  const auto cycles = [&](std::uint64_t warps, std::uint64_t loads, std::int64_t ways) {
    const Lanes lanes{.base = 0, .lane_step = ways * 4};
    return simulate(machine,
                    one_group(machine, {local_load(1, lanes, {}), repeat(0, loads)}, warps * 32))
        .cycles;
  };
  const std::uint64_t base = cycles(32, 32, 1);
  CHECK(cycles(32, 32, 8) - base == doctest::Approx(7.0 * 32 * 32).epsilon(0.01));
  CHECK(cycles(32, 32, 16) - base == doctest::Approx(15.0 * 32 * 32).epsilon(0.01));
}

TEST_CASE("a barrier waits for the last warp") {
  Machine machine = plain();
  machine.core.barrier_cycles = 7;
  Trace trace;
  trace.programs = {{read_clock(0), barrier(), read_clock(1)},
                    {alu(1, {1}), repeat(0, 50), barrier({1})}};
  trace.groups = {
      {{{.program = 0, .lanes = 32, .number = 0}, {.program = 1, .lanes = 32, .number = 1}}}};
  // The second warp issues its first operation in the second cycle, its barrier 250 later.
  CHECK(timed(machine, trace) == 1 + 250 + 7);
  // A warp that has ended is waited for by nobody.
  trace.programs[1] = {alu(1, {1})};
  CHECK(timed(machine, trace) <= 1 + 5 + 7);
}

TEST_CASE("a divergent branch delays its warp alone") {
  Machine machine = plain();
  machine.core.branch_cycles = 9;
  CHECK(timed(machine, one_group(machine, {read_clock(0), branch(), read_clock(1)}, 1)) == 1 + 9);
}

TEST_CASE("a register that is not ready is not overwritten") {
  const Machine machine = plain();
  const Program program{read_clock(0), load(1, anywhere), alu(1), read_clock(1, {1})};
  CHECK(timed(machine, one_group(machine, program, 1)) == 1 + 500 + 5);
}

TEST_CASE("a scoreboard of n lets n loads of a warp be under way") {
  Machine machine = plain();
  machine.core.pending_loads_per_warp = 2;
  Program program{read_clock(0)};
  for (Register r = 1; r <= 4; ++r) program.push_back(load(r, {.base = r * std::uint64_t{4096}}));
  program.push_back(read_clock(1, {1, 2, 3, 4}));
  CHECK(timed(machine, one_group(machine, program, 1)) == 1 + 1 + 2 * 500);
  machine.core.pending_loads_per_warp = 0;
  CHECK(timed(machine, one_group(machine, program, 1)) == 1 + 3 + 500);
}

TEST_CASE("work-groups follow one another when the contexts are full") {
  Machine machine = plain();
  machine.core.warp_contexts = 4;
  machine.core.max_work_group_size = 128;
  Trace trace = one_group(machine, {alu(1, {1}), repeat(0, 100)}, 96);
  const std::uint64_t one = simulate(machine, trace).cycles;
  trace.groups.push_back(trace.groups.front());
  trace.groups.push_back(trace.groups.front());
  // Three contexts of four are taken: no two groups fit. The next one starts with the end of the
  // second warp, a cycle before that of the third.
  CHECK(simulate(machine, trace).cycles == 3 * one - 2);
}

TEST_CASE("what cannot be simulated is refused") {
  const Machine machine = plain();
  CHECK_THROWS_WITH_AS(static_cast<void>(simulate(machine, one_group(machine, {alu(1)}, 32 * 49))),
                       "groups[0]: expected at most 48 warps, found 49", TraceError);
  Trace stuck = one_group(machine, {acquire(0), acquire(0), release(0)}, 1);
  stuck.locks = {{.address = 64}};
  Options options;
  options.max_cycles = 100000;
  CHECK_THROWS_AS(static_cast<void>(simulate(machine, stuck, options)), Deadlock);
  Trace keeps = one_group(machine, {acquire(0)}, 1);
  keeps.locks = {{.address = 64}};
  CHECK_THROWS_AS(static_cast<void>(simulate(machine, keeps)), Deadlock);
}

}  // namespace clprobe::simulator
