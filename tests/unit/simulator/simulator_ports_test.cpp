// SPDX-License-Identifier: Apache-2.0
// Banks of the first level and the port of local memory: what comes is in the way of what is asked
// for, a cycle a line; and lines that are mapped to local memory.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t banks = 8;

Machine banked(std::uint64_t count) {
  Machine machine;
  machine.alu = {.count = 1, .latency_cycles = 1, .interval_cycles = 1};
  machine.l1 = {.bytes = 16384,
                .line_bytes = line_bytes,
                .sector_bytes = line_bytes,
                .ways = 4,
                .latency_cycles = 1};
  machine.l1_banks.count = count;
  machine.local.latency_cycles = 1;
  machine.l2.latency_cycles = {30, 30};
  machine.l2.bytes_per_cycle = 1024.0;
  return machine;
}

Lanes line(std::uint64_t number) { return {.base = number * line_bytes, .active = 1}; }

/// For each number of cycles between them, how long `second` takes whose result `first` does not
/// touch; lines 0 to 7 are in the first level, all others in the second.
std::vector<std::uint64_t> times_behind(const Machine& machine, const Instruction& first,
                                        const Instruction& second) {
  std::vector<std::uint64_t> times;
  for (std::uint64_t gap = 1; gap < 50; ++gap) {
    Program program{first};
    for (std::uint64_t i = 0; i < gap; ++i) program.push_back(alu(3, {3}));
    program.push_back(read_clock(0));
    program.push_back(second);
    program.push_back(read_clock(1, {2}));
    Trace trace;
    trace.programs = {program};
    trace.groups = {make_group(machine, 1)};
    trace.resident = {{.home = Resident::Home::l2, .base = 0, .bytes = 64 * line_bytes},
                      {.home = Resident::Home::l1, .base = 0, .bytes = banks * line_bytes}};
    const Result result = simulate(machine, trace);
    times.push_back(result.clock_reads.at(1).cycle - result.clock_reads.at(0).cycle);
  }
  return times;
}

/// By how many cycles the times are longer, in all, than 2, an issue and a latency.
std::uint64_t delayed(const std::vector<std::uint64_t>& times) {
  std::uint64_t more = 0;
  for (const std::uint64_t each : times) {
    CHECK(each >= 2);
    more += each - 2;
  }
  return more;
}

Instruction mapped(Instruction instruction) {
  instruction.is_mapped = true;
  return instruction;
}

}  // namespace

TEST_CASE("a line that comes takes its bank of the first level for a cycle, and no other") {
  const Instruction miss = load(1, line(16));
  CHECK(delayed(times_behind(banked(banks), miss, load(2, line(0)))) == 1);
  CHECK(delayed(times_behind(banked(banks), miss, load(2, line(1)))) == 0);
  CHECK(delayed(times_behind(banked(1), miss, load(2, line(1)))) == 1);
  CHECK(delayed(times_behind(banked(0), miss, load(2, line(0)))) == 0);
  // Local memory has nothing to do with it, nor has what goes past the first level.
  CHECK(delayed(times_behind(banked(banks), miss, local_load(2, line(0)))) == 0);
  Instruction past = miss;
  past.skips_l1 = true;
  CHECK(delayed(times_behind(banked(banks), past, load(2, line(0)))) == 0);
}

TEST_CASE("a line that comes to local memory takes it for a cycle") {
  const Instruction brought = mapped(load(1, line(16)));
  CHECK(delayed(times_behind(banked(banks), brought, local_load(2, line(3)))) == 1);
  CHECK(delayed(times_behind(banked(banks), brought, load(2, line(0)))) == 0);
  CHECK(delayed(times_behind(banked(0), brought, local_load(2, line(3)))) == 0);
  const Instruction copied = copy_in(1, line(16), 3 * line_bytes);
  // Three lines one behind the other: who comes with the first waits for all of them.
  CHECK(delayed(times_behind(banked(banks), copied, local_load(2, line(3)))) == 3 + 2 + 1);
}

TEST_CASE("two lines of one bank that go in one cycle meet there") {
  Machine machine = banked(banks);
  machine.load_store.lines_per_interval = 2;
  const auto time = [&](std::int64_t distance) {
    const Lanes two{.base = 0, .lane_step = distance * 64, .active = 2};
    Trace trace;
    trace.programs = {{read_clock(0), load(1, two), read_clock(1, {1})}};
    trace.groups = {make_group(machine, 2)};
    trace.resident = {{.home = Resident::Home::l1, .base = 0, .bytes = 32 * line_bytes}};
    const Result result = simulate(machine, trace);
    return result.clock_reads.at(1).cycle - result.clock_reads.at(0).cycle;
  };
  CHECK(time(1) == 2);
  CHECK(time(banks) == 3);
}

TEST_CASE("who waits for a bank has a bank conflict") {
  // Two lines a cycle of one bank, from many warps: every second one waits.
  Machine machine = banked(banks);
  machine.load_store.lines_per_interval = 2;
  Trace trace;
  trace.programs = {{load(1, {.lane_step = banks * line_bytes, .active = 2}), repeat(0, 100)}};
  trace.groups = {make_group(machine, 256)};
  trace.resident = {{.home = Resident::Home::l1, .base = 0, .bytes = 32 * line_bytes}};
  const StallAccount met = account_stalls(machine, trace);
  // An instruction of two lines is issued every other cycle; between them somebody waits.
  CHECK(met.gsi.of(cause::bank_conflict) == doctest::Approx(800.0 - 1.0));
  machine.l1_banks.count = 0;
  const StallAccount free = account_stalls(machine, trace);
  CHECK(free.gsi.of(cause::bank_conflict) == 0.0);
  CHECK(free.result.cycles < met.result.cycles);
}

TEST_CASE("a mapped line is local from the first access on, and not in the first level") {
  Machine machine = banked(banks);
  const auto served = [&](Program program) {
    Trace trace;
    trace.programs = {std::move(program)};
    trace.groups = {make_group(machine, 1)};
    trace.resident = {{.home = Resident::Home::l2, .base = 0, .bytes = 64 * line_bytes}};
    return simulate(machine, trace);
  };
  const auto of = [](const Result& result, Level level) {
    return result.served_by.at(static_cast<std::size_t>(level));
  };
  const Result twice = served({mapped(load(1, line(9))), mapped(load(2, line(9), {1}))});
  CHECK(of(twice, Level::l2) == 1);
  CHECK(of(twice, Level::l1) == 1);
  const Result elsewhere = served({mapped(load(1, line(9))), load(2, line(9), {1})});
  CHECK(of(elsewhere, Level::l2) == 2);
  const Result written = served({mapped(store(line(9))), mapped(load(2, line(9)))});
  CHECK(of(written, Level::l1) == 1);
}

TEST_CASE("a mapped line that is owned is written to without an entry of the store buffer") {
  Machine machine = banked(banks);
  machine.sharing.coherence = Coherence::ownership;
  Trace trace;
  trace.locks = {{.address = std::uint64_t{1} << 20U}};
  const auto lines_written = [&](const Instruction& second) {
    trace.programs = {{mapped(store(line(9))), acquire(0), release(0), second}};
    trace.groups = {make_group(machine, 1)};
    return simulate(machine, trace).lines_written;
  };
  CHECK(lines_written(mapped(store(line(9)))) == 1);
  // It is not the first level's, nor another line.
  CHECK(lines_written(store(line(9))) == 2);
  CHECK(lines_written(mapped(store(line(10)))) == 2);
}

}  // namespace clprobe::simulator
