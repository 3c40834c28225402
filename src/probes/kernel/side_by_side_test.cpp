// SPDX-License-Identifier: Apache-2.0
// Tests of a kernel's waits that concurrent copies show. The launches are simulated on a compute
// unit with known waits, or have made-up times.
#include "probes/kernel/causes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "simulation/api/simulator.hpp"

namespace clprobe::kernel {
namespace {

using simulator::Instruction;
using simulator::Program;
using simulator::Register;

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t near_base = std::uint64_t{1} << 20U;
constexpr std::uint64_t far_base = std::uint64_t{1} << 32U;
constexpr std::uint64_t far_bytes = std::uint64_t{1} << 20U;

/// Returns a program of `count` steps. `instruction` returns the instruction of step n, counted
/// from 0.
Program steps(std::uint64_t count, const std::function<Instruction(std::uint64_t)>& instruction) {
  Program program;
  for (std::uint64_t i = 0; i < count; ++i) program.push_back(instruction(i));
  return program;
}

Register in_turn(std::uint64_t i, std::size_t chains) {
  return static_cast<Register>(1 + i % chains);
}

Program chains(std::size_t count) {
  return steps(2048, [count](std::uint64_t i) {
    return simulator::alu(in_turn(i, count), {in_turn(i, count)});
  });
}

/// Returns a program of 8 `amount` loads from lines that are far apart. Eight loads are in flight
/// at a time.
Program scattered(std::uint64_t amount) {
  constexpr std::size_t at_once = 8;
  return steps(amount * at_once, [](std::uint64_t i) {
    const Register own = in_turn(i, at_once);
    const std::uint64_t at = i * 41 % (far_bytes / line_bytes) * line_bytes;
    return simulator::load(own, {.base = far_base + at, .lane_step = 128, .warp_step = 7 * 128},
                           {own});
  });
}

/// A number of sub-groups that run the same program on one compute unit.
struct SubGroups {
  Program program;
  std::size_t count{0};
};

double cycles_of(const std::vector<SubGroups>& all) {
  simulator::Machine machine = simulator::preset("hopper-like");
  machine.core.scheduler = simulator::Scheduler::loose_round_robin;
  simulator::Trace trace;
  trace.groups.emplace_back();
  std::uint32_t number = 0;
  for (const SubGroups& each : all) {
    const auto program = static_cast<std::uint32_t>(trace.programs.size());
    trace.programs.push_back(each.program);
    for (std::size_t i = 0; i < each.count; ++i) {
      trace.groups[0].warps.push_back({.program = program, .number = number++});
    }
  }
  trace.resident = {
      {.base = far_base, .bytes = far_bytes + 256 * line_bytes},
      {.home = simulator::Resident::Home::l1, .base = near_base, .bytes = line_bytes}};
  return static_cast<double>(simulator::simulate(machine, trace).cycles);
}

/// Returns the causes of a kernel of `ns` nanoseconds from which no cause was removed.
KernelCauses alone(double ns) {
  KernelCauses causes{.is_believed = true};
  causes.total = {.ns = ns, .interval = {ns, ns}, .is_resolved = true};
  causes.unattributed = causes.total;
  return causes;
}

KernelCauses simulated(const Program& kernel, std::size_t sub_groups) {
  const double kernel_ns = cycles_of({{kernel, sub_groups}});
  constexpr std::size_t noisy = 8;
  constexpr std::uint64_t sample = 64;
  const double unit_ns = cycles_of({{scattered(sample), noisy}}) / sample;
  // The loads by themselves take as long as the kernel by itself.
  const auto amount = static_cast<std::uint64_t>(std::max(1.0, kernel_ns / unit_ns));
  const double beside_ns = cycles_of({{scattered(amount), noisy}, {kernel, sub_groups}});
  const double copies_ns = cycles_of({{kernel, copy_count * sub_groups}}) / copy_count;
  KernelCauses causes = alone(kernel_ns);
  add_chains({.alone_ns = {{kernel_ns}},
              .copies_ns = {{copies_ns}},
              .next_to_loads_ns = {{beside_ns}},
              .groups = 1,
              .resident_groups = 16},
             causes);
  return causes;
}

/// Returns the times of a kernel of 1 ms that keeps a compute unit busy for `share` of its time.
/// Next to loads, the kernel takes `slowed` times as long.
ConcurrentRuns busy(double share, double slowed = 1.0) {
  constexpr double kernel_ns = 1e6;
  return {.alone_ns = {{kernel_ns}},
          .copies_ns = {{share * kernel_ns}},
          .next_to_loads_ns = {{slowed * kernel_ns}},
          .groups = 100,
          .resident_groups = 800,
          .units = 100};
}

/// Returns the causes of a kernel that takes `left` ms with all causes removed.
KernelCauses with(ConcurrentRuns runs, double left = 1.0) {
  for (std::vector<double>& visit : runs.alone_ns) visit[0] *= left;
  KernelCauses causes = alone(1e6);
  causes.unattributed = {.ns = left * 1e6, .interval = {left * 1e6, left * 1e6}};
  causes.unattributed_share = left;
  add_chains(runs, causes);
  return causes;
}

const KernelCause& chains_in(const KernelCauses& causes) {
  REQUIRE_FALSE(causes.causes.empty());
  return causes.causes.back();
}

}  // namespace

TEST_CASE("chains: what copies of it have no need of a unit for waits") {
  const KernelCauses found = with(busy(0.2, 0.5), 0.5);
  CHECK(chains_in(found).state == CauseState::found);
  CHECK(chains_in(found).row.gsi == "compute data");
  CHECK(chains_in(found).share == doctest::Approx(0.3));
  CHECK(chains_in(found).cost.ns == doctest::Approx(3e5));
  CHECK_FALSE(chains_in(found).is_lower_bound);
  CHECK(chains_in(found).reason.empty());
  CHECK_FALSE(found.near_waits);
  CHECK(found.unattributed_share == doctest::Approx(0.2));
  CHECK(found.unattributed.ns == doctest::Approx(2e5));
  CHECK(kernel_advice(found).starts_with(
      "Removing dependent arithmetic saves at most 30 % of the kernel's time"));
  CHECK(chains_in(with(busy(0.7))).share == doctest::Approx(0.3));
  CHECK(chains_in(with(busy(1.0))).state == CauseState::not_resolved);
  // Copies slow each other, for example by replacing each other's data in the cache.
  const KernelCauses hindered = with(busy(1.1));
  CHECK(chains_in(hindered).state == CauseState::not_resolved);
  CHECK(chains_in(hindered).reason ==
        "not resolved: concurrent copies slow each other, so no compute unit is free");
  CHECK(chains_in(hindered).share == 0.0);
  CHECK(hindered.unattributed_share == 1.0);
}

TEST_CASE("chains: what feels other loads waits for loads") {
  const KernelCauses found = with(busy(0.1, 1.25), 0.5);
  CHECK(chains_in(found).state == CauseState::refused);
  CHECK(chains_in(found).reason ==
        "with all causes removed, the kernel still waits for loads: next to other loads, it takes "
        "2.50 times as long");
  REQUIRE(found.near_waits);
  CHECK(found.near_waits->share == doctest::Approx(0.4));
  CHECK(found.near_waits->share_interval.high == doctest::Approx(0.4));
  CHECK(found.unattributed_share == 0.5);
  CHECK(chains_in(with(busy(0.2, 1.15))).state == CauseState::found);
  CHECK(chains_in(with(busy(0.2, 1.25))).state == CauseState::refused);
  // The compute unit is busy for 95 % of the time, which is above the limit of 90 %. Other loads
  // then slow the kernel only by taking its issue slots.
  CHECK(chains_in(with(busy(0.95, 1.5))).state == CauseState::found);
  CHECK(chains_in(with(busy(0.85, 1.5))).state == CauseState::refused);
}

TEST_CASE("chains: copies that fill no unit say the least that it waits") {
  // Eight concurrent copies take 1.2 or 1.28 times as long as a single copy.
  CHECK(chains_in(with(busy(0.15))).reason ==
        "at least: the compute units are not full even with 8 concurrent copies");
  CHECK(chains_in(with(busy(0.15))).is_lower_bound);
  CHECK(chains_in(with(busy(0.16))).reason.empty());
  // Only half of the eight copies are resident.
  ConcurrentRuns runs = busy(0.3);
  runs.resident_groups = 400;
  CHECK(chains_in(with(runs)).reason ==
        "at least: only 4.0 copies of the kernel's groups fit on the device at once");
  runs = busy(0.32);
  runs.resident_groups = 400;
  CHECK(chains_in(with(runs)).reason.empty());
  runs.resident_groups = 0;
  CHECK(chains_in(with(runs)).is_lower_bound);
}

TEST_CASE("chains: compute units that copies alone have work for are not waited for") {
  // With 150 groups on 100 compute units, half of the units run two groups. The kernel takes as
  // long as two groups on one unit.
  ConcurrentRuns runs = busy(0.6);
  runs.groups = 150;
  CHECK(chains_in(with(runs)).share == doctest::Approx(0.2));
  // The second wave has a fourth of a wave's groups, so the slots for groups are used for 0.625 of
  // the time of two waves.
  runs = busy(0.5);
  runs.groups = 1000;
  CHECK(chains_in(with(runs)).share == doctest::Approx(0.2));
  // Nearly half of the slots in two waves are empty, so the copies may only fill empty slots.
  runs = busy(0.6);
  runs.groups = 801;
  CHECK(chains_in(with(runs)).state == CauseState::not_resolved);
  CHECK(chains_in(with(runs)).share == 0.0);
  CHECK(chains_in(with(runs)).reason ==
        "not resolved: concurrent copies possibly save time only by using compute units that the "
        "kernel leaves idle");
  // The groups fill all slots of all compute units, so the share of waits needs no correction.
  runs = busy(0.5);
  runs.groups = 800;
  CHECK(chains_in(with(runs)).share == doctest::Approx(0.5));
}

TEST_CASE("chains: copies of another kernel than what is left say nothing of it") {
  const auto of_left = [](double left) {
    KernelCauses causes = alone(1e6);
    causes.unattributed = {.ns = left * 1e6, .interval = {left * 1e6, left * 1e6}};
    add_chains(busy(0.2), causes);
    return chains_in(causes);
  };
  CHECK(of_left(1.05).state == CauseState::found);
  CHECK(of_left(0.95).state == CauseState::found);
  CHECK(of_left(0.8).reason ==
        "with all causes removed, the kernel takes 1.25 times the unattributed time");
  CHECK(of_left(1.2).state == CauseState::refused);
}

TEST_CASE("chains: nothing is said where copies cannot tell") {
  ConcurrentRuns runs = busy(0.2);
  runs.refusal = "the device does not run two kernels at once";
  CHECK(chains_in(with(runs)).reason == runs.refusal);
  for (Visits ConcurrentRuns::*const each :
       {&ConcurrentRuns::alone_ns, &ConcurrentRuns::copies_ns, &ConcurrentRuns::next_to_loads_ns}) {
    runs = busy(0.2);
    (runs.*each).clear();
    CHECK(chains_in(with(runs)).reason == "not all required launches were measured");
  }
  for (const std::string_view hidden : {"memory", "barriers", "fences", "functions", "atomics"}) {
    KernelCauses causes = alone(1e6);
    causes.causes = {{.row = {hidden, hidden}, .state = CauseState::refused}};
    add_chains(busy(0.2), causes);
    CHECK((chains_in(causes).state == CauseState::refused) == (hidden != "atomics"));
  }
  KernelCauses doubted = alone(1e6);
  doubted.is_believed = false;
  add_chains(busy(0.2), doubted);
  CHECK(doubted.causes.empty());
}

TEST_CASE("chains: a simulated unit is free while all of its sub-groups wait for results") {
  // Results are available after 4 cycles. With 4 sub-groups, each sub-group can issue one
  // instruction per cycle.
  const auto waiting = [](std::size_t count, std::size_t sub_groups) {
    const KernelCauses found = simulated(chains(count), sub_groups);
    REQUIRE(found.causes.size() == 1);
    CHECK_FALSE(found.near_waits);
    return found.causes.front().share;
  };
  CHECK(waiting(1, 4) == doctest::Approx(0.75).epsilon(0.05));
  CHECK(waiting(2, 4) == doctest::Approx(0.5).epsilon(0.08));
  CHECK(waiting(8, 4) == doctest::Approx(0.0).epsilon(0.03));
  CHECK(waiting(1, 8) == doctest::Approx(0.5).epsilon(0.08));
  CHECK(waiting(2, 8) == doctest::Approx(0.0).epsilon(0.03));
}

TEST_CASE("chains: what waits for loads on a simulated unit is not taken for arithmetic") {
  const auto chase = [](std::uint64_t base, std::uint64_t bytes) {
    return steps(256, [=](std::uint64_t i) {
      return simulator::load(1, {.base = base + i * 37 * line_bytes % bytes, .lane_step = 4}, {1});
    });
  };
  for (const Program& each :
       {chase(far_base, far_bytes), chase(near_base, line_bytes),
        steps(256, [](auto) { return simulator::local_load(1, {.lane_step = 4}, {1}); })}) {
    const KernelCauses found = simulated(each, 4);
    REQUIRE(found.causes.size() == 1);
    CHECK(found.causes.front().state == CauseState::refused);
    REQUIRE(found.near_waits);
    CHECK(found.near_waits->share > 0.86);  // 8 copies hide at most 7/8 of the waits
  }
}

}  // namespace clprobe::kernel
