// SPDX-License-Identifier: Apache-2.0
#include "unit/random_kernels.hpp"

#include <algorithm>

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t memory_base = std::uint64_t{1} << 32U;
constexpr std::uint64_t l2_base = std::uint64_t{1} << 30U;
constexpr std::uint64_t l1_base = std::uint64_t{1} << 20U;

bool has(std::uint32_t idealised, Factor factor) {
  return ((idealised >> static_cast<unsigned>(factor)) & 1U) != 0;
}

/// Where a load that belongs to `home` goes: to new lines each turn, or always to the same one of
/// its warp, which then is in the first level.
Lanes lanes_at(const RandomKernel& kernel, std::uint64_t base, std::uint64_t number,
               bool is_in_l1) {
  const auto region = line_bytes * kernel.warps * kernel.turns;
  Lanes lanes{.base = base + number * region,
              .lane_step = 4,
              .warp_step = static_cast<std::int64_t>(line_bytes),
              .turn_step = static_cast<std::int64_t>(line_bytes * kernel.warps)};
  if (!is_in_l1) return lanes;
  lanes.base = l1_base + number * line_bytes * kernel.warps;
  lanes.turn_step = 0;
  return lanes;
}

/// Loads and what waits for all of them.
void add_loads(Program& program, const RandomKernel& kernel, std::uint32_t idealised) {
  const bool memory_is_l2 = has(idealised, Factor::memory);
  const bool l2_is_l1 = has(idealised, Factor::l2);
  Register result = 10;
  for (std::uint64_t i = 0; i < kernel.memory_loads; ++i) {
    const Lanes lanes = lanes_at(kernel, memory_base, i, memory_is_l2 && l2_is_l1);
    program.push_back(load(result, lanes, {1}));
    program.push_back(alu(1, {result++}));
  }
  for (std::uint64_t i = 0; i < kernel.l2_loads; ++i) {
    program.push_back(load(result, lanes_at(kernel, l2_base, 8 + i, l2_is_l1), {1}));
    program.push_back(alu(1, {result++}));
  }
}

void add_turn(Program& program, const RandomKernel& kernel, std::uint32_t idealised,
              bool has_more_work) {
  add_loads(program, kernel, idealised);
  const std::int64_t stride = has(idealised, Factor::bank_conflict) ? 1 : kernel.local_stride;
  for (std::uint64_t i = 0; i < kernel.local_loads; ++i) {
    program.push_back(local_load(2, {.lane_step = 4 * stride}, {1}));
    program.push_back(alu(1, {2}));
  }
  for (std::uint64_t i = 0; i < kernel.chain; ++i) {
    const auto other = static_cast<Register>(30 + i % 16);
    program.push_back(has(idealised, Factor::chain) ? alu(other) : alu(1, {1}));
  }
  for (std::uint64_t i = 0; i < kernel.branches; ++i) {
    const auto other = static_cast<Register>(46 + i % 16);
    program.push_back(has(idealised, Factor::divergence) ? alu(other) : branch());
  }
  for (std::uint64_t i = 0; has_more_work && i < kernel.uneven_work; ++i) {
    program.push_back(special(3, {3}));
  }
  if (kernel.has_barrier) program.push_back(has(idealised, Factor::barrier) ? alu(62) : barrier());
}

}  // namespace

std::string_view to_word(Factor factor) {
  constexpr std::array<std::string_view, factor_count> words{
      "main memory", "second level", "bank conflict", "barrier", "chain", "divergence"};
  return words.at(static_cast<std::size_t>(factor));
}

RandomKernel random_kernel(Random& random) {
  RandomKernel kernel;
  kernel.warps = random.one_of({1, 2, 4, 8, 16});
  kernel.turns = kernel.warps;
  while (kernel.turns < 8) kernel.turns *= 2;
  if (random.chance(0.6)) kernel.memory_loads = random.from_to(1, 3);
  if (random.chance(0.6)) kernel.l2_loads = random.from_to(1, 3);
  if (random.chance(0.5)) {
    kernel.local_loads = random.from_to(1, 6);
    kernel.local_stride = static_cast<std::int64_t>(random.one_of({2, 4, 8, 16, 32}));
  }
  if (random.chance(0.6)) kernel.chain = random.from_to(4, 120);
  if (random.chance(0.4)) kernel.branches = random.from_to(1, 12);
  if (random.chance(0.5)) kernel.uneven_work = random.from_to(4, 40);
  kernel.has_barrier = random.chance(0.6);
  return kernel;
}

std::vector<Factor> factors_of(const RandomKernel& kernel) {
  std::vector<Factor> factors;
  if (kernel.memory_loads > 0) factors.push_back(Factor::memory);
  if (kernel.l2_loads > 0 || kernel.memory_loads > 0) factors.push_back(Factor::l2);
  if (kernel.local_loads > 0) factors.push_back(Factor::bank_conflict);
  if (kernel.has_barrier) factors.push_back(Factor::barrier);
  if (kernel.chain > 0) factors.push_back(Factor::chain);
  if (kernel.branches > 0) factors.push_back(Factor::divergence);
  if (factors.size() > 5) factors.pop_back();
  return factors;
}

Trace make_kernel(const Machine& machine, const RandomKernel& kernel, std::uint32_t idealised) {
  Trace trace;
  trace.groups = {make_group(machine, kernel.warps * machine.core.warp_width)};
  for (std::uint32_t w = 0; w < kernel.warps; ++w) {
    Program program;
    for (std::uint64_t turn = 0; turn < kernel.warps; ++turn) {
      add_turn(program, kernel, idealised, turn == w);
    }
    program.push_back(repeat(0, kernel.turns / kernel.warps));
    trace.programs.push_back(program);
    trace.groups[0].warps[w].program = w;
  }
  const std::uint64_t region = line_bytes * kernel.warps * kernel.turns;
  trace.resident.push_back({.base = l2_base + 8 * region, .bytes = kernel.l2_loads * region});
  if (has(idealised, Factor::memory)) {
    trace.resident.push_back({.base = memory_base, .bytes = kernel.memory_loads * region});
  }
  trace.resident.push_back(
      {.home = Resident::Home::l1, .base = l1_base, .bytes = 16 * line_bytes * kernel.warps});
  return trace;
}

namespace {

struct Watched {
  StallAccount account{};
  double uneven{0.0};  ///< of the compute data stalls of the all-causes view
};

/// The uneven work is made of special operations, and nothing else is.
Watched watch(const Machine& machine, const Trace& trace) {
  StallAccountant accountant(machine);
  StallAccountant chain(machine);
  Observer observer;
  observer.served = [&](std::uint64_t load, Level level) {
    accountant.serve(load, level);
    chain.serve(load, level);
  };
  std::vector<WarpState> states;
  observer.cycles = [&](const CycleState& state) {
    accountant.see(state);
    // The same, with those that wait for special operations given another cause.
    states.assign(state.warps.begin(), state.warps.end());
    for (WarpState& each : states) {
      if ((each.causes & cause::compute_data) == 0) continue;
      const Program& program = trace.programs[each.program];
      const bool is_uneven = each.instruction < program.size() &&
                             program[each.instruction].operation == Operation::special;
      if (is_uneven) each.causes = (each.causes & ~cause::compute_data) | cause::copy_wait;
    }
    CycleState other = state;
    other.warps = states;
    chain.see(other);
  };
  Watched watched;
  watched.account = accountant.account(simulate(machine, trace, {}, &observer));
  watched.uneven = chain.account({}).all_causes.of(cause::copy_wait);
  return watched;
}

double middle(const Latency& latency) {
  return static_cast<double>(latency.low + latency.high) / 2.0;
}

}  // namespace

std::array<double, factor_count> expected_shares(const Machine& machine,
                                                 const RandomKernel& kernel) {
  const Watched watched = watch(machine, make_kernel(machine, kernel, 0));
  const Breakdown& view = watched.account.all_causes;
  const double waits = view.of(Level::memory) + view.of(Level::l2);
  const double with_full = waits > 0.0 ? 1.0 + view.of(cause::full_mshr) / waits : 1.0;
  const double memory = view.of(Level::memory) * with_full;
  const double l2 = view.of(Level::l2) * with_full;
  const double far = middle(machine.memory.latency_cycles);
  const double near = middle(machine.l2.latency_cycles);
  const auto l1 = static_cast<double>(machine.l1.latency_cycles);
  const double both = memory * (near - l1) / far;
  const auto more_ways = static_cast<double>((kernel.local_stride - 1)) *
                         static_cast<double>(machine.local.way_cycles);
  const double conflict =
      more_ways / (more_ways + static_cast<double>(machine.local.latency_cycles));
  const auto time = static_cast<double>(watched.account.result.cycles);
  return {(memory * (far - near) / far + both / 2.0) / time,
          (l2 * (near - l1) / near + both / 2.0) / time,
          (view.of(cause::bank_conflict) + view.of(Level::l1) * conflict) / time,
          view.of(cause::barrier) / time,
          (view.of(Stall::compute_data) - watched.uneven) / time,
          view.of(Stall::control) / time};
}

}  // namespace clprobe::simulator
