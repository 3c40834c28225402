// SPDX-License-Identifier: Apache-2.0
// How many warp instructions a second of processor time the simulator takes, whether that is the
// same for twice and four times as many, what it adds to say where every cycle goes, what several
// compute units take, and the GSI case studies, all units of each. Run by tools/benchmark.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>

#include "clprobe/registry.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t base_turns = 2000;
constexpr int rounds = 3;

struct Mix {
  std::string_view name;
  std::string_view machine;
  std::uint64_t work_items;
  std::uint64_t turns;
  Program body;
};

/// The least processor time of some runs: other programs only add to it.
template <typename Run>
double min_seconds(Run run) {
  double least = 0.0;
  for (int i = 0; i < rounds; ++i) {
    const std::clock_t began = std::clock();
    run();
    const auto seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

/// What attributing every cycle adds to the simulation: a callback a span of cycles, not a cycle.
/// Alsop 2016, chapter 5, has 5 % for the same.
void measure_account(const Mix& mix) {
  const Machine machine = preset(mix.machine);
  Trace trace;
  trace.programs = {mix.body};
  trace.programs[0].push_back(repeat(0, 4 * mix.turns));
  trace.groups = {make_group(machine, mix.work_items)};
  Result result;
  const double alone = min_seconds([&] { result = simulate(machine, trace); });
  const double both = min_seconds([&] { result = account_stalls(machine, trace).result; });
  fmt::print("accounting {:<34} {:6.3f} s alone  {:6.3f} s with it  {:6.2f} million/s  +{:.0f} %\n",
             mix.name, alone, both, static_cast<double>(result.warp_instructions) / both * 1e-6,
             100.0 * (both / alone - 1.0));
}

void measure(const Mix& mix) {
  const Machine machine = preset(mix.machine);
  for (const std::uint64_t scale : {1U, 2U, 4U}) {
    Trace trace;
    trace.programs = {mix.body};
    trace.programs[0].push_back(repeat(0, mix.turns * scale));
    trace.groups = {make_group(machine, mix.work_items)};
    Result result;
    const double seconds = min_seconds([&] { result = simulate(machine, trace); });
    const auto instructions = static_cast<double>(result.warp_instructions);
    fmt::print("simulator  {:<34} {:>9} warp instructions  {:6.3f} s  {:6.2f} million/s\n",
               mix.name, result.warp_instructions, seconds, instructions / seconds * 1e-6);
  }
}

/// Units that each do what one does above, at the same time and with one second level.
void measure_units(const Mix& mix) {
  constexpr std::uint64_t units = 4;
  Machine machine = preset(mix.machine);
  machine.sharing.coherence = Coherence::gpu;
  Trace trace;
  trace.programs = {mix.body};
  trace.programs[0].push_back(repeat(0, mix.turns));
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    trace.groups.push_back(make_group(machine, mix.work_items, 0, 100 * unit));
  }
  // So that each unit has one of the groups.
  machine.core.warp_contexts = trace.groups.front().warps.size();
  machine.core.max_work_group_size = machine.core.warp_contexts * machine.core.warp_width;
  Result result;
  const double seconds =
      min_seconds([&] { result = sum_of(simulate_units(machine, trace, units)); });
  fmt::print("{} units    {:<34} {:6.2f} million/s\n", units, mix.name,
             static_cast<double>(result.warp_instructions) / seconds * 1e-6);
}

/// What `clprobe --device sim:gsi gsi` simulates, bar by bar without an account, and as it does it.
void measure_cases() {
  const Probe& gsi = *find_probe("gsi");
  const Machine machine = preset("gsi");
  const Options options{.seed = 42};
  std::uint64_t instructions = 0;
  std::chrono::duration<double> alone{0.0};
  for (const Point& point : gsi.plan(describe_device(machine), {}).points) {
    const SimulatedWork work = gsi.trace(machine, point);
    const Trace trace = work.trace(1);
    const auto began = std::chrono::steady_clock::now();
    const auto units = simulate_units(work.machine.value_or(machine), trace, work.units, options);
    alone += std::chrono::steady_clock::now() - began;
    instructions += sum_of(units).warp_instructions;
  }
  const double accounted = min_seconds([&] {
    const auto backend = simulated_backend(machine, options.seed);
    clprobe::measure(gsi, *backend, {}, gsi.budgets.normal, {});
  });
  const auto rate = [&](double seconds) {
    return static_cast<double>(instructions) / seconds * 1e-6;
  };
  fmt::print("cases of gsi, {} warp instructions: {:.2f} million/s alone, {:.2f} accounted for\n",
             instructions, rate(alone.count()), rate(accounted));
}

void measure_all(std::string_view only) {
  const Lanes stream{.lane_step = 4, .warp_step = 128, .turn_step = std::int64_t{32} * 128};
  const Mix mixes[] = {
      {"arithmetic, 32 warps", "hopper-like", 1024, base_turns, {alu(1, {1}), alu(2, {2})}},
      {"chase through memory, one lane",
       "hopper-like",
       1,
       32 * base_turns,
       {load(1, {.turn_step = 128}, {1})}},
      {"stream and arithmetic, 32 warps",
       "hopper-like",
       1024,
       base_turns,
       {load(1, stream), alu(2, {1}), alu(3, {2}), alu(4, {3})}},
      {"load, local, barrier, store",
       "gsi",
       1024,
       base_turns,
       {load(1, stream), alu(2, {1}), alu(3, {2}), alu(4, {3}), local_store({.lane_step = 4}, {4}),
        barrier(), local_load(1, {.lane_step = 8}), alu(2, {1}), store(stream, {2})}},
      {"32 lines a load, second level",
       "fermi-m2070",
       1024,
       base_turns / 8,
       {load(1, {.lane_step = 128, .warp_step = 4096})}},
  };
  const bool takes_units_alone = only == "units";
  const auto is_wanted = [&](const Mix& mix) {
    return takes_units_alone || mix.name.find(only) != std::string_view::npos;
  };
  for (const Mix& mix : mixes) {
    if (!takes_units_alone && is_wanted(mix)) measure(mix);
  }
  for (const Mix& mix : mixes) {
    if (!takes_units_alone && is_wanted(mix)) measure_account(mix);
  }
  for (const Mix& mix : mixes) {
    if (is_wanted(mix)) measure_units(mix);
  }
  if (only.empty() || only == "cases") measure_cases();
}

}  // namespace
}  // namespace clprobe::simulator

/// `units`: only several units; `cases`: only the case studies. Another word: only mixes with it in
/// their names.
int main(int count, char** words) { clprobe::simulator::measure_all(count > 1 ? words[1] : ""); }
