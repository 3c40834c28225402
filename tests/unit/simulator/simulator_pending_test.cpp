// SPDX-License-Identifier: Apache-2.0
// Outstanding requests: the spikes of Lashgar, Salehi and Baniasadi where their hardware had them.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {
namespace {

enum class Merge { within_warps, across_warps };

struct Pattern {
  std::uint32_t loads{1};
  std::uint32_t mergers{1};
  Merge merge{Merge::within_warps};
};

/// Their kernel: a barrier, a clock, independent loads of lines of 128 bytes, a barrier that waits
/// for all values, a clock. All of the data is in the second level.
Trace thread_latency(const Machine& machine, std::uint64_t threads, const Pattern& pattern) {
  const std::uint64_t width = machine.core.warp_width;
  const std::uint64_t lines_of_load = 4096;
  Program program{barrier(), read_clock(0)};
  Instruction end = barrier();
  for (std::uint32_t k = 0; k < pattern.loads; ++k) {
    Lanes lanes{.base = k * lines_of_load * 128, .lane_step = 128};
    const bool is_within = pattern.merge == Merge::within_warps;
    lanes.warp_step = static_cast<std::int64_t>(width * 128 / (is_within ? pattern.mergers : 1));
    lanes.lane_group = is_within ? pattern.mergers : 1;
    lanes.warp_group = is_within ? 1 : pattern.mergers;
    program.push_back(load(static_cast<Register>(k + 1), lanes));
    end.reads |= std::uint64_t{2} << k;
  }
  program.push_back(end);
  program.push_back(read_clock(1));
  Trace trace;
  trace.programs = {std::move(program)};
  trace.groups = {make_group(machine, threads)};
  trace.resident = {
      {.home = Resident::Home::l2, .base = 0, .bytes = pattern.loads * lines_of_load * 128}};
  return trace;
}

std::uint64_t latency(const Machine& machine, std::uint64_t threads, const Pattern& pattern) {
  // Of the resident lines only those that are used, so that a point stays cheap.
  Trace trace = thread_latency(machine, threads, pattern);
  trace.resident.clear();
  const std::uint64_t unique = (threads + pattern.mergers - 1) / pattern.mergers + 32;
  for (std::uint32_t k = 0; k < pattern.loads; ++k) {
    trace.resident.push_back({.base = k * std::uint64_t{4096} * 128, .bytes = unique * 128});
  }
  const Result result = simulate(machine, trace);
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  for (const ClockRead& read : result.clock_reads) {
    if (read.id == 0) first = std::min(first, read.cycle);
    if (read.id == 1) last = std::max(last, read.cycle);
  }
  return last - first;
}

/// The thread count after which the latency jumps, as the paper reads its plots; the first one.
std::optional<std::uint64_t> spike(const Machine& machine, const Pattern& pattern) {
  const std::uint64_t shortest = latency(machine, 2, pattern);
  std::uint64_t before = latency(machine, 34, pattern);
  for (std::uint64_t threads = 34; threads + 2 <= machine.core.max_work_group_size; threads += 2) {
    const std::uint64_t after = latency(machine, threads + 2, pattern);
    if (after > before &&
        static_cast<double>(after - before) > 0.15 * static_cast<double>(shortest)) {
      return threads;
    }
    before = after;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("the M2070's spikes: 128 MSHRs") {
  const Machine machine = preset("fermi-m2070");
  CHECK(spike(machine, {.loads = 1}) == 128);
  CHECK(spike(machine, {.loads = 2}) == 64);
  CHECK(spike(machine, {.loads = 1, .mergers = 2}) == 256);
  CHECK(spike(machine, {.loads = 2, .mergers = 4}) == 256);
  CHECK(spike(machine, {.loads = 4, .mergers = 8}) == 256);
  CHECK(spike(machine, {.loads = 1, .mergers = 16}) == std::nullopt);
  CHECK(spike(machine, {.loads = 1, .mergers = 32}) == std::nullopt);
}

TEST_CASE("Fig. 1: the latency rises to 32 threads, is flat to 96, rises to 128 and jumps there") {
  const auto risen = [](const Machine& machine, std::uint64_t from, std::uint64_t to) {
    return static_cast<std::int64_t>(latency(machine, to, {})) -
           static_cast<std::int64_t>(latency(machine, from, {}));
  };
  const Machine three = preset("fermi-m2070-units");
  CHECK(risen(three, 2, 32) == 30);
  CHECK(risen(three, 32, 96) <= 2);  // two warps issue a cycle
  CHECK(risen(three, 96, 128) >= 30);
  CHECK(risen(three, 128, 130) > 200);
  CHECK(spike(three, {.loads = 1}) == 128);
  CHECK(spike(three, {.loads = 2}) == 64);
  // With one unit for all warps there is no shelf.
  CHECK(risen(preset("fermi-m2070"), 32, 96) == 65);
}

TEST_CASE("stores, atomics and local memory have one unit, however many there are for loads") {
  for (const Operation operation : {Operation::store, Operation::atomic, Operation::local_load}) {
    const auto cycles = [&](std::uint64_t units) {
      Machine machine = preset("fermi-m2070-units");
      machine.load_store_units.count = units;
      Instruction each = load(1, {.lane_step = 128, .warp_step = 4096});
      each.operation = operation;
      if (operation == Operation::store) each.writes = 0;
      Trace trace;
      trace.programs = {{each}};
      trace.groups = {make_group(machine, 128)};
      return simulate(machine, trace).cycles;
    };
    CHECK(cycles(3) == cycles(1));
  }
}

TEST_CASE("the K20's spikes fit a pool of 1362 requests, and no table of 44 instructions") {
  const Machine pool = preset("kepler-k20-pool");
  CHECK(spike(pool, {.loads = 1}) == std::nullopt);
  CHECK(spike(pool, {.loads = 2}) == 680);
  CHECK(spike(pool, {.loads = 3}) == 454);
  const Machine table = preset("kepler-k20-prt");
  CHECK(spike(table, {.loads = 1}) == std::nullopt);
  CHECK(spike(table, {.loads = 2}) == 704);
  CHECK(spike(table, {.loads = 3}) == 448);
}

TEST_CASE("the block time jumps at the capacity by the latency less capacity times interval") {
  Machine machine = preset("fermi-m2070");
  for (const std::uint64_t capacity : {32U, 100U, 128U, 200U}) {
    for (const std::uint64_t interval : {1U, 2U}) {
      CAPTURE(capacity);
      CAPTURE(interval);
      machine.pending.entries = capacity;
      machine.load_store.interval_cycles = interval;
      const auto cycles = [&](std::uint64_t threads) {
        return static_cast<std::int64_t>(latency(machine, threads, {}));
      };
      const std::int64_t below = cycles(capacity) - cycles(capacity - 1);
      const std::int64_t at = cycles(capacity + 1) - cycles(capacity);
      CHECK(below == static_cast<std::int64_t>(interval));
      const std::int64_t expected = 365 - static_cast<std::int64_t>(capacity * interval);
      // Where the first answer is back before the last entry is taken, nothing is to be seen.
      // Beside it a thread that begins a warp costs that warp's own issue cycle.
      CHECK(at - below >= std::max<std::int64_t>(expected, 0));
      CHECK(at - below <= std::max<std::int64_t>(expected, 0) + 1);
    }
  }
}

TEST_CASE("with more entries than requests the table never fills") {
  Machine machine = preset("fermi-m2070");
  for (const PendingKind kind : {PendingKind::mshr, PendingKind::request_pool, PendingKind::prt}) {
    machine.pending = {.kind = kind, .entries = 0};
    const Result free = simulate(machine, thread_latency(machine, 1024, {.loads = 4}));
    CHECK(free.full_table_cycles == 0);
    machine.pending.entries = 16;
    const Result bound = simulate(machine, thread_latency(machine, 1024, {.loads = 4}));
    CHECK(bound.full_table_cycles > 0);
    CHECK(bound.max_pending == 16);
    CHECK(bound.cycles >= free.cycles);
    // 16 instructions of 32 lines are more than fit into the latency.
    CHECK((bound.cycles > free.cycles) == (kind != PendingKind::prt));
  }
}

TEST_CASE("requests of other warps to a line join its MSHR, up to its mergers") {
  Machine machine = preset("fermi-m2070");
  machine.pending = {.kind = PendingKind::mshr, .entries = 0, .mergers = 0};
  const Pattern pattern{.loads = 1, .mergers = 4, .merge = Merge::across_warps};
  const auto run = [&] { return simulate(machine, thread_latency(machine, 128, pattern)); };
  const Result merging = run();
  CHECK(merging.max_pending == 32);
  CHECK(merging.served_by[static_cast<std::size_t>(Level::l2)] == 32);
  CHECK(merging.served_by[static_cast<std::size_t>(Level::l1_coalescing)] == 96);
  machine.pending.mergers = 2;  // the third warp waits until the line is there
  const Result waiting = run();
  CHECK(waiting.served_by[static_cast<std::size_t>(Level::l1_coalescing)] == 32);
  CHECK(waiting.full_table_cycles > 0);
  CHECK(waiting.cycles > merging.cycles);
  machine.pending = {.kind = PendingKind::request_pool, .entries = 0};
  const Result separate = run();
  CHECK(separate.max_pending == 128);
  CHECK(separate.served_by[static_cast<std::size_t>(Level::l1_coalescing)] == 0);
}

TEST_CASE("a table of warp instructions counts instructions, not lines") {
  Machine machine = preset("kepler-k20-prt");
  machine.pending.entries = 8;
  for (const std::uint32_t loads : {1U, 2U, 3U, 4U}) {
    CAPTURE(loads);
    const std::uint64_t warps = 8 / loads;
    machine.core.pending_loads_per_warp = 0;
    CHECK(simulate(machine, thread_latency(machine, warps * 32, {.loads = loads}))
              .full_table_cycles == 0);
    CHECK(simulate(machine,
                   thread_latency(machine, warps * 32 + 1 + 32 * (loads - 1), {.loads = loads}))
              .full_table_cycles > 0);
  }
}

TEST_CASE("of lines that come together the one from farther away is to blame") {
  Machine machine = preset("fermi-m2070");
  machine.load_store.lines_per_interval = 2;
  machine.l2.latency_cycles = {machine.l1.latency_cycles, machine.l1.latency_cycles};
  machine.l2.bytes_per_cycle = 1e6;
  for (const bool near_first : {true, false}) {
    CAPTURE(near_first);
    Trace trace;
    const Lanes lanes{.base = near_first ? 0U : 128U, .lane_step = near_first ? 128 : -128};
    trace.programs = {{load(1, lanes), alu(2, {1})}};
    trace.groups = {make_group(machine, 2)};
    trace.resident = {{.home = Resident::Home::l1, .base = 0, .bytes = 128},
                      {.home = Resident::Home::l2, .base = 128, .bytes = 128}};
    std::vector<Level> levels;
    const Observer observer{.served = [&](std::uint64_t, Level level) { levels.push_back(level); }};
    const Result result = simulate(machine, trace, {}, &observer);
    CHECK(result.served_by[static_cast<std::size_t>(Level::l1)] == 1);
    CHECK(levels == std::vector<Level>{Level::l2});
  }
}

}  // namespace clprobe::simulator
