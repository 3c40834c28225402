// SPDX-License-Identifier: Apache-2.0
// What holds for every machine and every trace; both are made up here, with fixed seeds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "simulation/simulator/pending_table.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

/// A warp context over some cycles in which nothing about it changed.
struct Stretch {
  Causes causes{0};
  std::uint32_t instruction{0};
  std::uint64_t load{0};
  bool has_issued{false};
  std::uint64_t cycles{0};

  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// All that an observer can see, in a form in which the length of the spans does not show.
struct Seen {
  std::vector<std::vector<Stretch>> contexts{};
  std::map<std::uint64_t, Level> levels{};
  std::string fault{};
  std::uint64_t issued{0};
  std::uint64_t end{0};

  void add(std::size_t context, Stretch stretch) {
    contexts.resize(std::max(contexts.size(), context + 1));
    std::vector<Stretch>& all = contexts[context];
    if (!all.empty()) {
      Stretch longer = all.back();
      longer.cycles = stretch.cycles;
      if (longer == stretch) {
        all.back().cycles += stretch.cycles;
        return;
      }
    }
    all.push_back(stretch);
  }
  [[nodiscard]] Causes all_causes() const {
    Causes all = 0;
    for (const auto& each : contexts) {
      for (const Stretch& stretch : each) all |= stretch.causes;
    }
    return all;
  }
};

// A hundred times what the longest trace here takes: a warp that nobody wakes lets others try for
// its lock for ever.
constexpr std::uint64_t enough_cycles = 10000000;

struct Watched {
  Result result{};
  Seen seen{};
};

Watched watch(const Machine& machine, const Trace& trace, bool skips_idle) {
  Watched watched;
  Seen& seen = watched.seen;
  Observer observer;
  const std::uint32_t width = static_cast<std::uint32_t>(machine.core.issue_width);
  observer.cycles = [&](const CycleState& state) {
    std::uint32_t have_issued = 0;
    bool one_could = false;
    for (std::size_t i = 0; i < state.warps.size(); ++i) {
      const WarpState& warp = state.warps[i];
      const Causes causes = warp.causes;
      seen.add(i, {.causes = causes,
                   .instruction = warp.instruction,
                   .load = warp.load,
                   .has_issued = warp.has_issued,
                   .cycles = state.cycles});
      if (warp.has_issued) ++have_issued;
      if (warp.has_issued && causes != 0) seen.fault = "issued although blocked";
      const bool is_at_end = warp.instruction == trace.programs[warp.program].size();
      one_could = one_could || (causes == 0 && !warp.has_issued && !is_at_end);
    }
    if (state.first != seen.end || state.cycles == 0) seen.fault = "cycles missing or told twice";
    if (have_issued != state.issued || state.issued > width) seen.fault = "issued too many";
    if (state.issued > 0 && state.cycles != 1) seen.fault = "skipped over instructions";
    if (one_could && state.issued < width) seen.fault = "left an issue slot empty";
    seen.issued += state.issued;
    seen.end = state.first + state.cycles;
  };
  observer.served = [&](std::uint64_t load, Level level) {
    if (!seen.levels.emplace(load, level).second) seen.fault = "served twice";
  };
  Options options;
  options.skips_idle = skips_idle;
  options.max_cycles = enough_cycles;
  watched.result = simulate(machine, trace, options, &observer);
  CHECK(seen.fault == "");
  return watched;
}

}  // namespace

TEST_CASE("skipping idle cycles, watching, and running again change nothing") {
  Random random(20261121);
  for (int round = 0; round < rounds(60); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    const Trace trace = random_trace(random, machine);
    Options steps;
    steps.max_cycles = enough_cycles;
    const Result result = simulate(machine, trace, steps);
    REQUIRE(simulate(machine, trace, steps) == result);
    steps.skips_idle = false;
    REQUIRE(simulate(machine, trace, steps) == result);
    const Watched skipping = watch(machine, trace, true);
    REQUIRE(skipping.result == result);
    const Watched stepping = watch(machine, trace, false);
    REQUIRE(stepping.result == result);
    REQUIRE(skipping.seen.levels == stepping.seen.levels);
    const bool saw_the_same = skipping.seen.contexts == stepping.seen.contexts;
    REQUIRE(saw_the_same);
    // Every cycle is accounted for, and every instruction.
    REQUIRE(skipping.seen.end == result.cycles);
    REQUIRE(skipping.seen.issued == result.warp_instructions);
  }
}

TEST_CASE("causes that a machine cannot have are not found") {
  Random random(7);
  constexpr Causes copies = cause::pending_copy | cause::copy_wait;
  for (int round = 0; round < rounds(60); ++round) {
    CAPTURE(round);
    Machine machine = random_machine(random);
    machine.pending.entries = 0;
    machine.pending.mergers = 0;
    machine.store_buffer.entries = 0;
    machine.local.banks = 1024;
    machine.l1_banks.count = 0;
    const Trace trace = random_trace(random, machine);
    const bool has_copy = std::any_of(
        trace.programs[0].begin(), trace.programs[0].end(), [](const Instruction& each) {
          return each.operation == Operation::copy_in || each.operation == Operation::copy_out;
        });
    const Watched watched = watch(machine, trace, true);
    const Causes all = watched.seen.all_causes();
    CHECK((all & (cause::full_mshr | cause::full_store_buffer)) == 0);
    if (!has_copy) CHECK((all & copies) == 0);
    CHECK(watched.result.full_table_cycles == 0);
    CHECK(watched.result.max_pending <= 100000);
  }
}

TEST_CASE("the table never holds more than it has, and limits only delay") {
  Random random(99);
  for (int round = 0; round < rounds(60); ++round) {
    CAPTURE(round);
    Machine machine = random_machine(random);
    machine.pending.entries = random.from_to(1, 40);
    const Trace trace = random_trace(random, machine);
    const Result result = simulate(machine, trace);
    CHECK(result.max_pending <= machine.pending.entries);
    // Each instruction takes a slot, those that wait for a lock several.
    CHECK(result.cycles * machine.core.issue_width >= result.warp_instructions);
  }
}

TEST_CASE("with nothing to wait for at main memory no load waits for it") {
  Random random(5);
  for (int round = 0; round < rounds(20); ++round) {
    CAPTURE(round);
    Machine machine = random_machine(random);
    machine.memory.latency_cycles = {0, 0};
    machine.memory.bytes_per_cycle = 1e6;
    machine.l2.bytes = 0;
    machine.l2.latency_cycles = {0, 0};
    machine.l2.bytes_per_cycle = 1e6;
    machine.l1.bytes = 0;
    machine.pending = {.kind = PendingKind::request_pool, .entries = 0};
    machine.load_store = {.queue_instructions = 1, .lines_per_interval = 64, .interval_cycles = 1};
    Trace trace;
    trace.programs = {{load(1, random_lanes(random)), alu(2, {1}), repeat(0, 20)}};
    trace.groups = {make_group(machine, machine.core.warp_width)};
    const Watched watched = watch(machine, trace, true);
    CHECK((watched.seen.all_causes() & cause::memory_data) == 0);
  }
}

TEST_CASE("the order of equal warps makes no difference, that of others hardly any") {
  Random random(11);
  for (int round = 0; round < rounds(30); ++round) {
    CAPTURE(round);
    Machine machine = preset("gsi");
    const Trace trace = two_kinds_of_warps(machine);
    const Result before = simulate(machine, trace);
    Trace permuted = trace;
    permute(random, permuted.groups[0]);
    const Result after = simulate(machine, permuted);
    CHECK(after.warp_instructions == before.warp_instructions);
    CHECK(after.served_by == before.served_by);
    CHECK(static_cast<double>(after.cycles) ==
          doctest::Approx(static_cast<double>(before.cycles)).epsilon(0.03));
  }
}

TEST_CASE("the seed places latencies within their ranges, and nothing else") {
  const Machine machine = preset("gsi");
  Trace trace;
  trace.programs = {{read_clock(0), load(1, {.turn_step = 128}, {1}), repeat(0, 200)}};
  trace.groups = {make_group(machine, 1)};
  trace.resident = {{.base = 0, .bytes = 200 * 128}};
  std::map<std::uint64_t, int> latencies;
  std::vector<std::uint64_t> totals;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Options options;
    options.seed = seed;
    const Result result = simulate(machine, trace, options);
    totals.push_back(result.cycles);
    // A clock read, then the load that waits for the one before.
    for (std::size_t i = 2; i < result.clock_reads.size(); ++i) {
      ++latencies[result.clock_reads[i].cycle - result.clock_reads[i - 1].cycle];
    }
  }
  CHECK(latencies.begin()->first >= 29);
  CHECK(latencies.rbegin()->first <= 62);
  CHECK(latencies.size() > 25);
  std::sort(totals.begin(), totals.end());
  CHECK(std::unique(totals.begin(), totals.end()) - totals.begin() > 15);
}

TEST_CASE("answers come in the order of their times, those of one time as they were requested") {
  Random random(12);
  PendingTable table({.kind = PendingKind::request_pool, .entries = 0});
  std::uint64_t received = 0;
  std::uint64_t line = 0;
  for (std::uint64_t cycle = 0; cycle < 500; ++cycle) {
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      table.add(++line, 1, cycle + random.below(6), Fills::l1);
    }
    const std::uint64_t next = table.next_answer();
    std::optional<Answer> before;
    table.receive(cycle, [&](const Answer& each) {
      ++received;
      REQUIRE(each.ready <= cycle);
      if (!before) REQUIRE(each.ready == next);
      if (before) REQUIRE(each.ready >= before->ready);
      if (before && before->ready == each.ready) REQUIRE(each.line > before->line);
      before = each;
    });
    REQUIRE(table.next_answer() > cycle);
  }
  CHECK(received > 500);
}

TEST_CASE("random machines survive their files") {
  Random random(3);
  for (int round = 0; round < rounds(200); ++round) {
    const Machine machine = random_machine(random);
    REQUIRE(machine_from_json(to_json(machine)) == machine);
  }
}

}  // namespace clprobe::simulator
