// SPDX-License-Identifier: Apache-2.0
// Sub-classes of control and compute stalls: to the cycle where one warp has them, and what must
// hold of every cycle.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "simulation/api/simulator.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

StallAccount account_of(const Machine& machine, Program program, std::uint64_t warps = 1) {
  Trace trace;
  trace.programs = {std::move(program)};
  trace.groups = {make_group(machine, warps * machine.core.warp_width)};
  return account_stalls(machine, trace);
}

/// Pipelines and branches with numbers of their own, none of which is another's.
Machine odd_machine() {
  Machine machine = preset("gsi");
  machine.alu = {.count = 1, .latency_cycles = 5, .interval_cycles = 3};
  machine.special = {.count = 1, .latency_cycles = 17, .interval_cycles = 11};
  machine.core.branch_cycles = 7;
  return machine;
}

}  // namespace

TEST_CASE("compute data: whose result is waited for, to the cycle") {
  const Machine machine = odd_machine();
  const auto data_of = [&](const Program& program) {
    const StallAccount account = account_of(machine, program);
    CHECK(account.gsi.of(Stall::compute_structural) == 0.0);
    return std::pair(account.gsi.of(cause::arithmetic_result),
                     account.gsi.of(cause::special_result));
  };
  // The result of each is waited for by what follows, that of the last by the warp's end.
  CHECK(data_of({alu(1), special(2, {1})}) == std::pair(4.0, 16.0));
  CHECK(data_of({special(1), alu(2, {1})}) == std::pair(4.0, 16.0));
  // Both at once: what comes last is waited for, whichever was begun first.
  CHECK(data_of({special(1), alu(2), alu(3, {1, 2})}).second == 15.0);
  CHECK(data_of({alu(2), special(1), alu(3, {1, 2})}).second == 16.0);
  Machine slow = machine;
  slow.alu.latency_cycles = 40;
  const StallAccount account = account_of(slow, {special(1), alu(2), read_clock(0, {1, 2})});
  CHECK(account.gsi.of(cause::arithmetic_result) == 39.0);
  CHECK(account.gsi.of(cause::special_result) == 0.0);
}

TEST_CASE("a register's last writer is whose result it is") {
  const Machine machine = odd_machine();
  const StallAccount account =
      account_of(machine, {special(1), alu(2, {1}), alu(1), read_clock(0, {1})});
  CHECK(account.gsi.of(cause::special_result) == 16.0);
  CHECK(account.gsi.of(cause::arithmetic_result) > 0.0);
  CHECK(account.gsi.of(Stall::memory_data) == 0.0);
}

TEST_CASE("compute structural: which pipelines are taken, to the cycle") {
  const Machine machine = odd_machine();
  const StallAccount arithmetic = account_of(machine, {alu(1), alu(2)});
  CHECK(arithmetic.gsi.of(cause::busy_arithmetic) == 2.0);
  CHECK(arithmetic.gsi.of(cause::busy_special) == 0.0);
  const StallAccount special_only = account_of(machine, {special(1), special(2)});
  CHECK(special_only.gsi.of(cause::busy_special) == 10.0);
  CHECK(special_only.gsi.of(cause::busy_arithmetic) == 0.0);
  // Each has its own pipelines.
  const StallAccount both = account_of(machine, {alu(1), special(2)});
  CHECK(both.gsi.of(Stall::compute_structural) == 0.0);
}

TEST_CASE("control: behind a branch, and at the start of a warp") {
  Machine machine = odd_machine();
  const StallAccount behind = account_of(machine, {branch(), branch(), read_clock(0)});
  CHECK(behind.gsi.of(cause::branch) == 12.0);
  CHECK(behind.gsi.of(cause::warp_start) == 0.0);
  machine.instructions.start_cycles = 30;
  const StallAccount started = account_of(machine, {branch(), branch(), read_clock(0)});
  CHECK(started.gsi.of(cause::branch) == 12.0);
  CHECK(started.gsi.of(cause::warp_start) == 30.0);
  CHECK(started.result.cycles == behind.result.cycles + 30);
  // A warp that comes in the place of another starts, too.
  machine.core.warp_contexts = 1;
  machine.core.max_work_group_size = machine.core.warp_width;
  Trace trace;
  trace.programs = {{read_clock(0)}};
  trace.groups = {make_group(machine, 1), make_group(machine, 1, 0, 1)};
  CHECK(account_stalls(machine, trace).gsi.of(cause::warp_start) == 60.0);
}

TEST_CASE("a load that another's answer serves waits for L1 coalescing, on the thesis's machine") {
  const Machine machine = preset("gsi");
  const Program program{load(1, {}), alu(2, {1})};
  const StallAccount alone = account_of(machine, program);
  CHECK(alone.gsi.of(Level::l1_coalescing) == 0.0);
  const StallAccount two = account_of(machine, program, 2);
  CHECK(two.result.served_by[static_cast<std::size_t>(Level::l1_coalescing)] == 1);
  // Both wait for the same answer, and share all cycles but for those of their beginnings.
  CHECK(two.gsi.of(Level::l1_coalescing) > 90.0);
  CHECK(two.gsi.of(Level::l1_coalescing) + two.gsi.of(Level::memory) ==
        two.gsi.of(Stall::memory_data));
}

TEST_CASE("in every cycle of any trace a warp has one sub-class of control and compute at most") {
  Random random(31);
  std::uint64_t seen = 0;
  for (int round = 0; round < rounds(40); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    const Trace trace = random_trace(random, machine);
    bool is_right = true;
    Observer observer;
    observer.cycles = [&](const CycleState& state) {
      for (const WarpState& warp : state.warps) {
        const Causes causes = warp.causes;
        seen |= causes;
        for (const Causes type : {cause::control, cause::compute_data, cause::compute_structural}) {
          is_right = is_right && std::popcount(causes & type) <= 1;
        }
        const bool is_held = (causes & cause::control) != 0;
        is_right = is_right && (!is_held || std::popcount(causes) == 1);
      }
    };
    Options options;
    options.max_cycles = 100000;
    try {
      simulate(machine, trace, options, &observer);
    } catch (const Deadlock&) {  // as in the tests of breakdowns
    }
    CHECK(is_right);
  }
  constexpr Causes ours = cause::control | cause::compute_data | cause::compute_structural;
  CHECK((seen & ours) == ours);
}

}  // namespace clprobe::simulator
