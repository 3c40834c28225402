// SPDX-License-Identifier: Apache-2.0
// Several compute units in one clock: what they share, and what none of them notices of the others.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t enough_cycles = 10000000;

/// A line of 128 bytes takes 200 cycles from the second level, 300 from another unit.
Machine plain(Coherence coherence = Coherence::gpu) {
  Machine machine;
  machine.l1 = {.bytes = 16384, .line_bytes = 128, .sector_bytes = 128, .ways = 4};
  machine.l1.latency_cycles = 20;
  machine.l2.latency_cycles = {200, 200};
  machine.l2.bytes_per_cycle = 128.0;
  machine.memory.latency_cycles = {500, 500};
  machine.memory.bytes_per_cycle = 128.0;
  machine.sharing = {.coherence = coherence, .remote_latency_cycles = {300, 300}};
  return machine;
}

/// A work-group of one warp for each program.
Trace one_warp_each(const Machine& machine, std::vector<Program> programs) {
  Trace trace;
  trace.programs = std::move(programs);
  for (std::uint32_t i = 0; i < trace.programs.size(); ++i) {
    trace.groups.push_back(make_group(machine, machine.core.warp_width, i, i));
  }
  trace.locks = {{.address = 1U << 20U, .is_shared = true}};
  trace.resident = {{.base = 0, .bytes = 1U << 16U}};
  return trace;
}

std::uint64_t served(const Result& result, Level level) {
  return result.served_by.at(static_cast<std::size_t>(level));
}

Options limited(bool skips_idle = true) {
  Options options;
  options.max_cycles = enough_cycles;
  options.skips_idle = skips_idle;
  return options;
}

void add_wait(Program& program, std::uint64_t cycles) {
  program.push_back(alu(63, {63}));
  program.push_back(repeat(static_cast<std::uint32_t>(program.size() - 1), cycles / 4));
}

}  // namespace

TEST_CASE("a unit that finds the others empty does what it does alone") {
  Random random(20261125);
  for (int round = 0; round < rounds(60); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    Trace trace = random_trace(random, machine);
    trace.groups.resize(1);
    const Result alone = simulate(machine, trace, limited());
    const std::vector<Result> units = simulate_units(machine, trace, 3, limited());
    REQUIRE(units.size() == 3);
    CHECK(units[0] == alone);
    CHECK(units[1].warp_instructions == 0);
    CHECK(units[2].cycles == alone.cycles);
  }
}

TEST_CASE("of several units, skipping idle cycles, watching and running again change nothing") {
  Random random(77);
  for (int round = 0; round < rounds(40); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    Trace trace = random_trace(random, machine);
    while (trace.groups.size() < 5) trace.groups.push_back(trace.groups.front());
    const std::vector<Result> results = simulate_units(machine, trace, 3, limited());
    REQUIRE(simulate_units(machine, trace, 3, limited()) == results);
    REQUIRE(simulate_units(machine, trace, 3, limited(false)) == results);
    const GridAccount account = account_units(machine, trace, 3, limited());
    const auto cycles = static_cast<double>(results[0].cycles - results[0].flush_cycles);
    for (std::size_t unit = 0; unit < 3; ++unit) {
      REQUIRE(account.units[unit].result == results[unit]);
      CHECK(account.units[unit].gsi.total() == doctest::Approx(cycles));
      CHECK(account.units[unit].all_causes.total() == doctest::Approx(cycles));
    }
    CHECK(account.mean.gsi.total() == doctest::Approx(cycles));
    CHECK(account.mean.result == sum_of(results));
  }
}

TEST_CASE("work that is shared out while running goes to the same warps in the same cycles") {
  Random random(4);
  for (int round = 0; round < rounds(12); ++round) {
    CAPTURE(round);
    Machine machine = random_machine(random);
    machine.sharing.coherence = Coherence::gpu;
    Trace trace = random_trace(random, machine);
    trace.programs[0] = {load(1, random_lanes(random)), alu(2, {1}), store(random_lanes(random))};
    while (trace.groups.size() < 7) trace.groups.push_back(trace.groups.front());
    for (std::uint32_t i = 0; i < 3; ++i) {
      trace.programs.push_back(trace.programs[0]);
      trace.programs.back().push_back(repeat(0, i + 1));
    }
    const auto run = [&](const Options& options) {
      // Who comes first has the longer one.
      trace.next_program = [left = 60U](std::uint32_t warp, std::uint64_t cycle) mutable {
        return left == 0 ? 4U : static_cast<std::uint32_t>((--left + warp + cycle) % 4);
      };
      return simulate_units(machine, trace, 4, options);
    };
    REQUIRE(run(limited()) == run(limited(false)));
  }
}

TEST_CASE("a lock that is asked for at no distance is served in the next cycle") {
  Machine machine = preset("gsi");
  machine.sharing.coherence = Coherence::gpu;
  machine.l2.latency_cycles = {1, 1};
  Trace trace;
  trace.locks = {{.address = 4096, .is_shared = true}};
  trace.programs = {{acquire(0), release(0), repeat(0, 50)}, {alu(1), repeat(0, 500)}};
  for (std::uint32_t unit = 0; unit < 2; ++unit) {
    trace.groups.push_back(make_group(machine, 64, 0, 10 * unit));
    trace.groups.back().warps[1].program = 1;
  }
  std::array<std::uint64_t, 2> issued{};
  std::array<Observer, 2> observers{};
  for (std::size_t unit = 0; unit < 2; ++unit) {
    observers.at(unit).cycles = [&sum = issued.at(unit)](const CycleState& state) {
      sum += state.issued;
    };
  }
  const std::array<const Observer*, 2> given{observers.data(), &observers.back()};
  const std::vector<Result> results = simulate_units(machine, trace, 2, limited(), given);
  // A unit that was stepped twice in a cycle would have issued twice.
  for (std::size_t unit = 0; unit < 2; ++unit) {
    CHECK(issued.at(unit) == results[unit].warp_instructions);
  }
}

TEST_CASE("a lock is held by one warp at a time, of whichever unit") {
  for (const bool owns : {false, true}) {
    Machine machine = preset("gsi");
    machine.synchronization.owns_atomics = owns;
    Trace trace = one_warp_each(machine, std::vector<Program>(6));
    for (Program& each : trace.programs) {
      each = {acquire(0), read_clock(0), load(1, {.base = 4096}), alu(2, {1}), read_clock(1, {2}),
              release(0), repeat(0, 20)};
    }
    const Result result = sum_of(simulate_units(machine, trace, 6, limited()));
    REQUIRE(result.clock_reads.size() == 6 * 20 * 2);
    std::array<std::uint64_t, 6> turns{};
    for (std::size_t i = 0; i < result.clock_reads.size(); i += 2) {
      const ClockRead& in = result.clock_reads[i];
      const ClockRead& out = result.clock_reads[i + 1];
      REQUIRE(in.id == 0);
      REQUIRE(out.id == 1);
      REQUIRE(in.warp == out.warp);
      // The next one has it after the release's way and its own.
      if (i + 2 < result.clock_reads.size()) REQUIRE(result.clock_reads[i + 2].cycle > out.cycle);
      ++turns.at(in.warp);
    }
    CHECK(std::all_of(turns.begin(), turns.end(), [](std::uint64_t n) { return n == 20; }));
  }
}

TEST_CASE(
    "a lock that is freed goes to the request that arrives first, not to the one sent first") {
  // Unit 1 is nearer to the lock's line than unit 0 or the other way, by the seed.
  Machine machine = preset("gsi");
  machine.l2.latency_cycles = {20, 200};
  Trace trace = one_warp_each(machine, std::vector<Program>(2));
  trace.programs[0] = {acquire(0), read_clock(0), release(0)};
  trace.programs[1] = {alu(1), acquire(0), read_clock(0), release(0)};
  bool overtakes = false;
  bool keeps_order = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Options options = limited();
    options.seed = seed;
    const Result result = sum_of(simulate_units(machine, trace, 2, options));
    REQUIRE(result.clock_reads.size() == 2);
    (result.clock_reads[0].warp == 1 ? overtakes : keeps_order) = true;
  }
  CHECK(overtakes);
  CHECK(keeps_order);
}

TEST_CASE("back-off tries less often for a lock") {
  const Machine machine = plain();
  const auto attempts = [&](std::uint64_t backoff) {
    Trace trace = one_warp_each(machine, std::vector<Program>(2));
    Program holds{acquire(0)};
    add_wait(holds, 8000);
    holds.push_back(release(0));
    Instruction take = acquire(0);
    take.count = backoff;
    Program waits{alu(1), alu(1, {1}), take, release(0)};
    trace.programs = {holds, waits};
    const std::vector<Result> units = simulate_units(machine, trace, 2, limited());
    return units[1].warp_instructions - 3;
  };
  // A way of 200 cycles, in 8200.
  CHECK(attempts(0) > 35);
  CHECK(attempts(200) > 17);
  CHECK(attempts(200) < 24);
  CHECK(attempts(1800) < 7);
}

TEST_CASE("a line that one unit owns comes to another from it, and is taken away by it") {
  const Lanes line{.base = 4096, .lane_step = 4};
  for (const Coherence coherence : {Coherence::gpu, Coherence::ownership}) {
    CAPTURE(to_word(coherence));
    const bool owns = coherence == Coherence::ownership;
    const Machine machine = plain(coherence);
    Trace trace = one_warp_each(machine, std::vector<Program>(2));
    trace.locks.push_back({.address = 1U << 21U});
    // Unit 0 writes and reads; unit 1 then reads and writes; unit 0 then reads again.
    Program first{store(line), release(0), load(1, line), alu(2, {1})};
    add_wait(first, 8000);
    first.push_back(read_clock(0));
    first.push_back(load(3, line));
    first.push_back(read_clock(1, {3}));
    Program second;
    add_wait(second, 2000);
    second.push_back(read_clock(0));
    second.push_back(load(1, line));
    second.push_back(read_clock(1, {1}));
    second.push_back(store(line, {1}));
    second.push_back(release(1));
    trace.programs = {first, second};
    const std::vector<Result> units = simulate_units(machine, trace, 2, limited());
    const auto read_time = [](const Result& unit) {
      return unit.clock_reads.at(1).cycle - unit.clock_reads.at(0).cycle;
    };
    CHECK(served(units[1], Level::remote_l1) == (owns ? 1 : 0));
    CHECK(read_time(units[1]) == (owns ? 301 : 201));
    // Its own line was a hit under ownership; when the other has taken it, it is that one's.
    CHECK(served(units[0], Level::remote_l1) == (owns ? 1 : 0));
    if (owns) CHECK(read_time(units[0]) == 301);
  }
}

TEST_CASE("banks of the second level serve one request a cycle, of all units together") {
  Machine machine = plain();
  machine.load_store = {.queue_instructions = 1, .lines_per_interval = 1, .interval_cycles = 1};
  const auto cycles = [&](std::uint64_t banks) {
    machine.l2_banks.count = banks;
    std::vector<Program> programs;
    for (std::uint64_t unit = 0; unit < 8; ++unit) {
      // Lines of their own, all of one bank of 4.
      const Lanes lines{.base = unit << 12U, .lane_step = 512};
      programs.push_back({load(1, lines), alu(2, {1})});
    }
    const Trace trace = one_warp_each(machine, programs);
    return simulate_units(machine, trace, 8, limited()).front().cycles;
  };
  // 8 units of 32 lines each: at once, in one bank, in as many as there are units.
  CHECK(cycles(0) < 250);
  CHECK(cycles(4) > 8 * 32 + 200);
  CHECK(cycles(1) == cycles(4));
  CHECK(cycles(64) < cycles(4));
}

TEST_CASE("work-groups go to the units in turn, then to whoever has room") {
  Machine machine = plain();
  machine.core.warp_contexts = 1;
  machine.core.max_work_group_size = machine.core.warp_width;
  std::vector<Program> programs(5, Program{alu(1)});
  programs[0] = {};
  add_wait(programs[0], 4000);
  const std::vector<Result> units =
      simulate_units(machine, one_warp_each(machine, programs), 2, limited());
  // The first has the long one alone; the second all others.
  CHECK(units[0].warp_instructions == 1000);
  CHECK(units[1].warp_instructions == 4);
}

TEST_CASE("a unit that has ended is idle until the last warp of any ends, then stores arrive") {
  const Machine machine = plain();
  Program longer;
  add_wait(longer, 4000);
  longer.push_back(store({.base = 4096, .lane_step = 4}));
  const Trace trace = one_warp_each(machine, {longer, {alu(1)}});
  const GridAccount account = account_units(machine, trace, 2, limited());
  CHECK(account.units[0].gsi.of(Stall::idle) == 0.0);
  CHECK(account.units[1].gsi.of(Stall::idle) > 3990.0);
  CHECK(account.mean.gsi.of(Stall::idle) == account.units[1].gsi.of(Stall::idle) / 2.0);
  for (const StallAccount& unit : account.units) {
    CHECK(unit.result.flush_cycles == 200);
    CHECK(unit.gsi.total() + 200.0 == static_cast<double>(unit.result.cycles));
  }
}

TEST_CASE("units that wait for each other for ever are told") {
  const Machine machine = plain();
  Trace trace = one_warp_each(machine, std::vector<Program>(2));
  trace.locks.push_back({.address = 1U << 21U, .is_shared = true});
  // Each has one lock and wants the other's.
  for (std::uint32_t unit = 0; unit < 2; ++unit) {
    trace.programs[unit] = {acquire(unit)};
    add_wait(trace.programs[unit], 1000);
    trace.programs[unit].push_back(acquire(1 - unit));
    trace.programs[unit].push_back(release(1 - unit));
    trace.programs[unit].push_back(release(unit));
  }
  Options options;
  options.max_cycles = 100000;
  CHECK_THROWS_WITH_AS(simulate_units(machine, trace, 2, options),
                       "no progress after cycle 100000: warp 0 waits at instruction 3 of program 0",
                       Deadlock);
}

TEST_CASE("the first of several warps that end with a lock is told") {
  const Machine machine = preset("gsi");
  Trace trace;
  trace.locks = {{.address = 4096, .is_shared = true}, {.address = 8192, .is_shared = true}};
  for (std::uint32_t unit = 0; unit < 3; ++unit) {
    Program program{alu(1)};
    if (unit > 0) program.push_back(acquire(unit - 1));
    add_wait(program, unit == 2 ? 200 : 400);
    trace.programs.push_back(program);
    trace.groups.push_back(make_group(machine, 32, unit, unit));
  }
  std::string fault;
  try {
    simulate_units(machine, trace, 3, limited());
  } catch (const Deadlock& deadlock) {
    fault = deadlock.what();
  }
  CHECK(fault.starts_with("warp 2 ended at cycle "));
  CHECK(fault.find(" while holding a lock") != std::string::npos);
}

TEST_CASE(
    "a simulation asks some times a second whether it is to go on, and ends where it is not") {
  const Machine machine = plain();
  for (const std::uint64_t units : {1U, 4U}) {
    CAPTURE(units);
    const Program program{alu(1, {1}), repeat(0, 100'000'000)};
    const Trace trace = one_warp_each(machine, std::vector<Program>(units, program));
    int asked = 0;
    const Options options{.cancelled = [&asked] { return ++asked == 3; }};
    const auto began = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(simulate_units(machine, trace, units, options), Cancelled);
    CHECK(asked == 3);
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
  }
}

}  // namespace clprobe::simulator
