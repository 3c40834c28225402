// SPDX-License-Identifier: Apache-2.0
// GSI's two algorithms against all sets of causes, and what must hold for every breakdown.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

doctest::Approx near(double value) { return doctest::Approx(value).epsilon(1e-9); }

std::array<double, stall_count> by_stall(const Breakdown& view) {
  std::array<double, stall_count> cycles{};
  for (std::size_t i = 0; i < stall_count; ++i) cycles[i] = view.of(static_cast<Stall>(i));
  return cycles;
}

void check_parts(const Breakdown& view) {
  for (const double each : view.cycles) CHECK(each >= 0.0);
}

void check_account(const StallAccount& account) {
  const auto expected = static_cast<double>(account.result.cycles - account.result.flush_cycles);
  CHECK(account.gsi.total() == near(expected));
  CHECK(account.all_causes.total() == near(expected));
  // Where GSI sees an instruction, slots beside it may be empty.
  CHECK(account.all_causes.of(Stall::none) <= account.gsi.of(Stall::none) * (1.0 + 1e-9));
  check_parts(account.gsi);
  check_parts(account.all_causes);
}

constexpr Lanes stream{.lane_step = 4, .warp_step = 128, .turn_step = 32 * 128};

/// Greedy-then-oldest issue may let warps that spin for a lock starve the one that holds it, for
/// ever. Such a trace has no breakdown; there must be few.
std::optional<StallAccount> account_if_it_ends(const Machine& machine, const Trace& trace,
                                               int& without_end, bool skips_idle = true) {
  Options options;
  options.max_cycles = 100000;
  options.skips_idle = skips_idle;
  try {
    return account_stalls(machine, trace, options);
  } catch (const Deadlock&) {
    ++without_end;
    return std::nullopt;
  }
}

Trace of_program(const Machine& machine, Program program, std::uint64_t work_items) {
  Trace trace;
  trace.programs = {std::move(program)};
  trace.groups = {make_group(machine, work_items)};
  return trace;
}

}  // namespace

// The order of the thesis's text, written down a second time: as a ladder and by names.
TEST_CASE("algorithm 1 gives every set of causes its strongest") {
  for (unsigned set = 0; set < 128; ++set) {
    CAPTURE(set);
    const bool idle = (set & 1U) != 0;
    const bool control = (set & 2U) != 0;
    const bool synchronization = (set & 4U) != 0;
    const bool memory_data = (set & 8U) != 0;
    const bool memory_structural = (set & 16U) != 0;
    const bool compute_data = (set & 32U) != 0;
    const bool compute_structural = (set & 64U) != 0;
    Causes causes = 0;
    if (idle) causes |= cause::idle;
    if (control) causes |= cause::branch;
    if (synchronization) causes |= cause::acquire;
    if (memory_data) causes |= cause::memory_data;
    if (memory_structural) causes |= cause::bank_conflict;
    if (compute_data) causes |= cause::special_result;
    if (compute_structural) causes |= cause::busy_arithmetic;
    std::string expected = "no stall";
    if (compute_structural) expected = "compute structural";
    if (compute_data) expected = "compute data";
    if (memory_structural) expected = "memory structural";
    if (memory_data) expected = "memory data";
    if (synchronization) expected = "synchronization";
    if (control) expected = "control";
    if (idle) expected = "idle";
    CHECK(to_word(classify_instruction(conditions_of(causes))) == expected);
  }
}

TEST_CASE("algorithm 2 gives every set of stalls its weakest") {
  for (unsigned set = 0; set < 128; ++set) {
    for (const bool has_issued : {false, true}) {
      CAPTURE(set);
      CAPTURE(has_issued);
      std::string expected = "idle";
      const auto take = [&](Stall stall) {
        if ((set & bit_of(stall)) != 0) expected = std::string(to_word(stall));
      };
      take(Stall::idle);
      take(Stall::control);
      take(Stall::compute_data);
      take(Stall::compute_structural);
      take(Stall::synchronization);
      take(Stall::memory_data);
      take(Stall::memory_structural);
      auto found = static_cast<StallSet>(set);
      if (has_issued) {
        found = static_cast<StallSet>(found | bit_of(Stall::none));
        expected = "no stall";
      }
      CHECK(to_word(classify_cycle(found)) == expected);
    }
  }
}

TEST_CASE("priorities that were asked for win, in both algorithms") {
  Priorities asked;
  asked.instruction = {Stall::compute_data,      Stall::idle,        Stall::control,
                       Stall::synchronization,   Stall::memory_data, Stall::memory_structural,
                       Stall::compute_structural};
  asked.cycle = {Stall::control,
                 Stall::memory_structural,
                 Stall::memory_data,
                 Stall::synchronization,
                 Stall::compute_structural,
                 Stall::compute_data,
                 Stall::idle};
  const auto set = [](Stall a, Stall b) { return static_cast<StallSet>(bit_of(a) | bit_of(b)); };
  const StallSet data = set(Stall::memory_data, Stall::compute_data);
  CHECK(classify_instruction(data) == Stall::memory_data);
  CHECK(classify_instruction(data, asked) == Stall::compute_data);
  const StallSet control = set(Stall::control, Stall::memory_data);
  CHECK(classify_cycle(control) == Stall::memory_data);
  CHECK(classify_cycle(control, asked) == Stall::control);
  // What issues is no stall, whatever is looked for.
  CHECK(classify_cycle(set(Stall::none, Stall::control), asked) == Stall::none);
  CHECK(classify_instruction(0, asked) == Stall::none);
}

TEST_CASE("priorities move cycles from one type to another, and none away") {
  const Machine machine = preset("gsi");
  // A warp that waits for memory beside one that waits for its own arithmetic.
  Trace trace;
  trace.programs = {{load(1, {.turn_step = 64}, {1}), repeat(0, 50)},
                    {alu(1, {1}), repeat(0, 500)}};
  trace.groups = {make_group(machine, 2 * machine.core.warp_width)};
  trace.groups[0].warps[1].program = 1;
  Priorities asked;
  std::reverse(asked.cycle.begin(), asked.cycle.end());
  const Breakdown usual = account_units(machine, trace, 1).mean.gsi;
  const Breakdown other = account_units(machine, trace, 1, {}, asked).mean.gsi;
  CHECK(usual.of(Stall::compute_data) == 0.0);
  CHECK(other.of(Stall::compute_data) > 100.0);
  CHECK(other.of(Stall::none) == usual.of(Stall::none));
  CHECK(other.of(Stall::compute_data) + other.of(Stall::memory_data) ==
        usual.of(Stall::memory_data));
}

TEST_CASE("every cause belongs to one type, and a full MSHR comes before a pending copy") {
  for (Causes bit = 1; bit < cause::end; bit <<= 1U) {
    CAPTURE(bit);
    CHECK(classify_instruction(conditions_of(bit)) != Stall::none);
    CHECK(classify_cycle(conditions_of(bit)) == classify_instruction(conditions_of(bit)));
  }
  const auto structural = [](Causes causes) {
    return stall_parts.at(part_of(Stall::memory_structural, causes)).cause;
  };
  CHECK(structural(cause::pending_copy) == cause::pending_copy);
  CHECK(structural(cause::pending_copy | cause::full_mshr) == cause::full_mshr);
  CHECK(structural(cause::pending_release | cause::bank_conflict) == cause::bank_conflict);
  CHECK(structural(cause::pending_release | cause::pending_copy) == cause::pending_release);
}

TEST_CASE("the parts of every breakdown add up, on any machine and trace") {
  Random random(4);
  int without_end = 0;
  for (int round = 0; round < rounds(60); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    const Trace trace = random_trace(random, machine);
    const auto account = account_if_it_ends(machine, trace, without_end);
    if (!account) continue;
    check_account(*account);
    // A cycle with an instruction has at most as many as the issue is wide.
    CHECK(account->gsi.of(Stall::none) * static_cast<double>(machine.core.issue_width) >=
          static_cast<double>(account->result.warp_instructions));
    // Watching changes nothing.
    CHECK(account->result == simulate(machine, trace));
  }
  CHECK(without_end <= 3);
}

TEST_CASE("skipping idle cycles changes no breakdown") {
  Random random(15);
  int without_end = 0;
  for (int round = 0; round < rounds(20); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    const Trace trace = random_trace(random, machine);
    const auto skipping = account_if_it_ends(machine, trace, without_end);
    if (!skipping) continue;
    const auto stepping = account_if_it_ends(machine, trace, without_end, false);
    REQUIRE(stepping);
    for (std::size_t i = 0; i < stall_parts.size(); ++i) {
      CHECK(skipping->gsi.cycles[i] == near(stepping->gsi.cycles[i]));
      CHECK(skipping->all_causes.cycles[i] == near(stepping->all_causes.cycles[i]));
    }
  }
  CHECK(without_end <= 1);
}

TEST_CASE("without limits nothing stalls for an MSHR, a store buffer or a bank") {
  Random random(21);
  int without_end = 0;
  for (int round = 0; round < rounds(40); ++round) {
    CAPTURE(round);
    Machine machine = random_machine(random);
    machine.pending.entries = 0;
    machine.pending.mergers = 0;
    machine.store_buffer.entries = 0;
    machine.local.banks = 1024;
    machine.l1_banks.count = 0;
    const Trace trace = random_trace(random, machine);
    const auto account = account_if_it_ends(machine, trace, without_end);
    if (!account) continue;
    for (const Breakdown* view : {&account->gsi, &account->all_causes}) {
      CHECK(view->of(cause::full_mshr) == 0.0);
      CHECK(view->of(cause::full_store_buffer) == 0.0);
    }
  }
  CHECK(without_end <= 3);
}

TEST_CASE("what everything waits for at main memory is called main memory") {
  Machine machine = preset("gsi");
  const Trace trace =
      of_program(machine, {load(1, {.turn_step = 4096}), alu(2, {1}), repeat(0, 50)}, 32);
  const StallAccount account = account_stalls(machine, trace);
  check_account(account);
  CHECK(account.gsi.of(Level::memory) > 49 * 197);
  CHECK(account.gsi.of(Level::memory) == account.gsi.of(Stall::memory_data));
  // One warp: each view is the warp's own, but for the few cycles in which it has two causes.
  for (std::size_t i = 0; i < level_count; ++i) {
    const auto level = static_cast<Level>(i);
    CHECK(account.all_causes.of(level) == doctest::Approx(account.gsi.of(level)).epsilon(0.01));
  }
  // T = issue + latency, of one load.
  const Trace one = of_program(machine, {load(1, {}), alu(2, {1})}, 1);
  machine.memory.latency_cycles = {200, 200};
  const StallAccount single = account_stalls(machine, one);
  CHECK(single.gsi.of(Level::memory) == 199.0);
  CHECK(single.gsi.of(Stall::compute_data) == 3.0);  // the warp's last result
  CHECK(single.gsi.of(Stall::none) == 2.0);
  CHECK(single.result.cycles == 204 + single.gsi.of(Stall::idle));
}

TEST_CASE("with nothing to wait for at main memory no cycle is its own") {
  Machine machine = preset("gsi");
  machine.memory.latency_cycles = {1, 1};
  machine.l2.latency_cycles = {1, 1};
  machine.memory.bytes_per_cycle = 1e6;
  machine.l2.bytes_per_cycle = 1e6;
  const StallAccount account = account_stalls(
      machine, of_program(machine, {load(1, {.turn_step = 128}), alu(2, {1}), repeat(0, 50)}, 32));
  CHECK(account.gsi.of(Level::memory) == 0.0);
  CHECK(account.all_causes.of(Level::memory) == 0.0);
}

TEST_CASE("each kind of trace stalls for its own reason") {
  Machine machine = preset("gsi");
  machine.core.scheduler =
      Scheduler::loose_round_robin;  // all sub-groups come to the load/store unit
  const auto first_cause = [&](const Program& program, std::uint64_t items) {
    const StallAccount account = account_stalls(machine, of_program(machine, program, items));
    check_account(account);
    const auto cycles = by_stall(account.gsi);
    const auto* const end = cycles.end() - 1;  // but for "no stall"
    return to_word(static_cast<Stall>(std::max_element(cycles.begin(), end) - cycles.begin()));
  };
  CHECK(first_cause({alu(1, {1}), repeat(0, 50)}, 32) == "compute data");
  CHECK(first_cause({special(1), special(2), repeat(0, 50)}, 1024) == "compute structural");
  CHECK(first_cause({branch(), repeat(0, 50)}, 32) == "control");
  CHECK(first_cause({local_load(1, {.lane_step = 128}), repeat(0, 50)}, 512) ==
        "memory structural");
  constexpr Lanes two_lines{.lane_step = 8, .warp_step = 256, .turn_step = 32 * 256};
  CHECK(first_cause({load(1, two_lines), repeat(0, 50)}, 1024) == "memory structural");
  CHECK(first_cause({load(1, stream), alu(2, {1}), repeat(0, 50)}, 32) == "memory data");
}

TEST_CASE("the order of the warps leaves the sums where they are") {
  Random random(12);
  Machine machine = preset("gsi");
  machine.core.scheduler = Scheduler::loose_round_robin;  // the other one prefers the oldest
  for (int round = 0; round < rounds(10); ++round) {
    CAPTURE(round);
    Trace trace = two_kinds_of_warps(machine);
    const StallAccount before = account_stalls(machine, trace);
    permute(random, trace.groups[0]);
    const StallAccount after = account_stalls(machine, trace);
    const double twentieth = before.gsi.total() / 20.0;
    for (std::size_t i = 0; i < stall_parts.size(); ++i) {
      CHECK(std::abs(after.gsi.cycles[i] - before.gsi.cycles[i]) < twentieth);
      CHECK(std::abs(after.all_causes.cycles[i] - before.all_causes.cycles[i]) < twentieth);
    }
  }
}

TEST_CASE("where warps stall for different reasons the views differ as they should") {
  // One warp waits for main memory, three for a barrier that it does not reach before.
  const Machine machine = preset("gsi");
  Trace trace;
  trace.programs = {{load(1, {}), alu(2, {1}), barrier()}, {barrier()}};
  trace.groups = {make_group(machine, 4 * 32)};
  for (std::size_t w = 1; w < 4; ++w) trace.groups[0].warps[w].program = 1;
  const StallAccount account = account_stalls(machine, trace);
  check_account(account);
  const double waited = account.gsi.of(Level::memory);
  CHECK(waited > 190.0);
  CHECK(account.all_causes.of(Level::memory) == near(waited / 4.0));
  CHECK(account.all_causes.of(cause::barrier) > waited * 0.74);
  CHECK(account.gsi.of(Stall::synchronization) < 6.0);
}

}  // namespace clprobe::simulator
