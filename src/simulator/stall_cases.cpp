// SPDX-License-Identifier: Apache-2.0
#include "clprobe/stall_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace clprobe::simulator {
namespace {

constexpr std::array<std::uint64_t, 4> mshr_sizes{32, 64, 128, 256};
constexpr std::array local_copies{LocalCopy::scratchpad, LocalCopy::scratchpad_dma,
                                  LocalCopy::stash};

constexpr std::uint64_t array_base = std::uint64_t{1} << 28U;

constexpr Register address = 10;
constexpr Register local_address = 11;
constexpr Register value = 1;

void add_operations(Program& program, Register on, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) program.push_back(alu(on, {on}));
}

Program scratchpad_program(const Implicit& implicit, const Lanes& global, const Lanes& local) {
  Program program;
  add_operations(program, address, implicit.address_operations);
  program.push_back(load(value, global, {address}));
  program.push_back(alu(local_address));
  program.push_back(local_store(local, {value, local_address}));
  program.push_back(repeat(0, implicit.elements));
  program.push_back(barrier());
  const auto compute = static_cast<std::uint32_t>(program.size());
  program.push_back(alu(local_address));
  program.push_back(local_load(value, local, {local_address}));
  add_operations(program, value, implicit.operations);
  program.push_back(local_store(local, {value, local_address}));
  program.push_back(repeat(compute, implicit.elements));
  program.push_back(barrier());
  const auto copy_back = static_cast<std::uint32_t>(program.size());
  program.push_back(alu(local_address));
  program.push_back(local_load(value, local, {local_address}));
  add_operations(program, address, implicit.address_operations);
  program.push_back(store(global, {value, address}));
  program.push_back(repeat(copy_back, implicit.elements));
  return program;
}

/// Each warp starts the copy of its own part; local accesses wait for all of them.
Program dma_program(const Implicit& implicit, const Lanes& global, const Lanes& local,
                    std::uint64_t warp_bytes) {
  constexpr std::uint32_t copy = 1;
  Instruction mapped = local_load(value, local, {local_address});
  mapped.id = copy;
  Program program{copy_in(copy, global, warp_bytes), alu(local_address), mapped};
  add_operations(program, value, implicit.operations);
  program.push_back(local_store(local, {value, local_address}));
  program.push_back(repeat(1, implicit.elements));
  program.push_back(copy_out(copy + 1, global, warp_bytes));
  return program;
}

/// A load of what is not there yet goes past the first-level cache; what was written is registered
/// and stays. The mapping needs the place in global memory once.
Program stash_program(const Implicit& implicit, const Lanes& global) {
  Program program;
  add_operations(program, address, implicit.address_operations);
  Instruction mapped = load(value, global, {local_address});
  mapped.skips_l1 = true;
  const auto compute = static_cast<std::uint32_t>(program.size());
  program.push_back(alu(local_address));
  program.push_back(mapped);
  add_operations(program, value, implicit.operations);
  program.push_back(store(global, {value, local_address}));
  program.push_back(repeat(compute, implicit.elements));
  return program;
}

double ratio(double here, double before) {
  return before == 0.0 ? std::numeric_limits<double>::quiet_NaN() : here / before;
}

double time_of(const CaseRun& run) { return static_cast<double>(run.account.result.cycles); }

CaseRun run_of(std::string name, const Machine& machine, const Trace& trace) {
  return {std::move(name), account_stalls(machine, trace)};
}

}  // namespace

std::string_view to_word(TaskQueues queues) { return queues == TaskQueues::one ? "uts" : "utsd"; }

std::string_view to_word(LocalCopy copy) {
  constexpr std::array<std::string_view, 3> words{"scratchpad", "scratchpad with DMA", "stash"};
  return words.at(static_cast<std::size_t>(copy));
}

Machine make_case_machine(Coherence coherence, std::uint64_t mshr_entries) {
  Machine machine = preset("gsi");
  machine.sharing.coherence = coherence;
  machine.pending.entries = mshr_entries;
  machine.store_buffer.entries = mshr_entries;
  return machine;
}

Trace make_implicit(const Machine& machine, const Implicit& implicit) {
  const std::uint64_t width = machine.core.warp_width;
  const std::uint64_t turn_bytes = width * implicit.object_bytes;
  const std::uint64_t warp_bytes = turn_bytes * implicit.elements;
  const Lanes global{.base = array_base,
                     .lane_step = static_cast<std::int64_t>(implicit.object_bytes),
                     .warp_step = static_cast<std::int64_t>(warp_bytes),
                     .turn_step = static_cast<std::int64_t>(turn_bytes)};
  const Lanes local{.lane_step = 4,
                    .warp_step = static_cast<std::int64_t>(4 * width * implicit.elements),
                    .turn_step = static_cast<std::int64_t>(4 * width)};
  Trace trace;
  switch (implicit.copy) {
    case LocalCopy::scratchpad:
      trace.programs = {scratchpad_program(implicit, global, local)};
      break;
    case LocalCopy::scratchpad_dma:
      trace.programs = {dma_program(implicit, global, local, warp_bytes)};
      break;
    case LocalCopy::stash:
      trace.programs = {stash_program(implicit, global)};
      break;
  }
  for (std::uint64_t g = 0; g < implicit.groups; ++g) {
    trace.groups.push_back(make_group(machine, implicit.warps * width, 0,
                                      static_cast<std::uint32_t>(g * implicit.warps)));
  }
  return trace;
}

std::vector<CaseRun> run_implicit(const Implicit& implicit) {
  std::vector<CaseRun> runs;
  for (const LocalCopy copy : local_copies) {
    for (const std::uint64_t entries : mshr_sizes) {
      const Machine machine = make_case_machine(Coherence::ownership, entries);
      Implicit each = implicit;
      each.copy = copy;
      runs.push_back(run_of(fmt::format("implicit, {}, {} MSHRs", to_word(copy), entries), machine,
                            make_implicit(machine, each)));
    }
  }
  return runs;
}

std::vector<CaseRun> run_tree_searches(const TreeSearch& search) {
  std::vector<CaseRun> runs;
  for (const TaskQueues queues : {TaskQueues::one, TaskQueues::per_unit}) {
    for (const Coherence coherence : {Coherence::gpu, Coherence::ownership}) {
      const Machine machine = make_case_machine(coherence);
      TreeSearch each = search;
      each.queues = queues;
      runs.push_back(
          run_of(fmt::format("{}, {}", to_word(queues),
                             coherence == Coherence::gpu ? "GPU coherence" : "ownership"),
                 machine, make_tree_search(machine, each)));
    }
  }
  return runs;
}

std::vector<CaseChange> compare_tree_searches(const std::vector<CaseRun>& runs) {
  const CaseRun& uts = runs.at(0);
  const CaseRun& uts_owning = runs.at(1);
  const CaseRun& utsd = runs.at(2);
  const CaseRun& utsd_owning = runs.at(3);
  const auto change = [&](Stall stall) {
    return ratio(utsd_owning.account.gsi.of(stall), utsd.account.gsi.of(stall));
  };
  const auto release_share = [](const CaseRun& run) {
    return run.account.gsi.of(StructuralStall::pending_release) / time_of(run);
  };
  return {
      {"time, utsd against uts, GPU coherence", 0.09, ratio(time_of(utsd), time_of(uts))},
      {"time, utsd against uts, ownership", 0.06, ratio(time_of(utsd_owning), time_of(uts_owning))},
      {"time, utsd, ownership against GPU coherence", 0.72,
       ratio(time_of(utsd_owning), time_of(utsd))},
      {"memory structural stalls, utsd, ownership against GPU coherence", 0.29,
       change(Stall::memory_structural)},
      {"memory data stalls, utsd, ownership against GPU coherence", 0.43,
       change(Stall::memory_data)},
      {"pending release as a share of the time, utsd, GPU coherence", 0.10, release_share(utsd)},
      {"pending release as a share of the time, utsd, ownership", 0.04, release_share(utsd_owning)},
  };
}

std::vector<CaseChange> compare_implicit(const std::vector<CaseRun>& runs) {
  const auto gsi = [&](std::size_t copy, std::size_t size) -> const Breakdown& {
    return runs.at(copy * mshr_sizes.size() + size).account.gsi;
  };
  const std::size_t last = mshr_sizes.size() - 1;
  const auto against_scratchpad = [&](std::size_t copy, Stall stall) {
    return ratio(gsi(copy, 0).of(stall), gsi(0, 0).of(stall));
  };
  constexpr auto pending_dma = StructuralStall::pending_copy;
  return {
      {"no stall, DMA against scratchpad", 0.64, against_scratchpad(1, Stall::none)},
      {"no stall, stash against scratchpad", 0.69, against_scratchpad(2, Stall::none)},
      {"memory structural stalls, DMA against scratchpad", 1.67,
       against_scratchpad(1, Stall::memory_structural)},
      {"memory structural stalls, stash against scratchpad", 1.34,
       against_scratchpad(2, Stall::memory_structural)},
      {"full MSHR, scratchpad, 256 MSHRs against 32", 0.0,
       ratio(gsi(0, last).of(StructuralStall::full_mshr),
             gsi(0, 0).of(StructuralStall::full_mshr))},
      {"memory data stalls, scratchpad, 256 MSHRs against 32", 13.0,
       ratio(gsi(0, last).of(Stall::memory_data), gsi(0, 0).of(Stall::memory_data))},
      {"pending DMA, DMA, 256 MSHRs against 32", 8.9,
       ratio(gsi(1, last).of(pending_dma), gsi(1, 0).of(pending_dma))},
      {"memory data stalls, stash, 256 MSHRs against 32", 2.1,
       ratio(gsi(2, last).of(Stall::memory_data), gsi(2, 0).of(Stall::memory_data))},
  };
}

}  // namespace clprobe::simulator
