// SPDX-License-Identifier: Apache-2.0
// The implicit microbenchmark as a trace: work on an array through local memory. Also kernels
// without memory accesses, which wait for results, pipelines, branches or a longer work-group.
#include <cstdint>
#include <utility>

#include "probes/gsi/cases.hpp"

namespace clprobe::gsi {
namespace {

using simulator::alu;
using simulator::barrier;
using simulator::branch;
using simulator::Instruction;
using simulator::Lanes;
using simulator::Machine;
using simulator::Program;
using simulator::Register;
using simulator::repeat;
using simulator::special;
using simulator::Trace;

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

/// Returns the program for a copy engine. Each warp starts the copy of its own part. Its loads wait
/// for this copy; with the copy granularity `core`, all local accesses wait for all copies.
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

/// Returns the program for a memory that is mapped to the array (a stash). A load that misses
/// fetches the line into the stash. A stored line is registered as owned and stays in the stash.
/// The program computes the global address once, for the mapping.
Program stash_program(const Implicit& implicit, const Lanes& global) {
  Program program;
  add_operations(program, address, implicit.address_operations);
  Instruction mapped = load(value, global, {local_address});
  mapped.is_mapped = true;
  const auto compute = static_cast<std::uint32_t>(program.size());
  program.push_back(alu(local_address));
  program.push_back(mapped);
  add_operations(program, value, implicit.operations);
  Instruction written = store(global, {value, local_address});
  written.is_mapped = true;
  program.push_back(written);
  program.push_back(repeat(compute, implicit.elements));
  return program;
}

constexpr std::uint64_t compute_turns = 100;
constexpr std::uint64_t tail_units = 2;

/// Kernel without memory accesses. With few warps, results of operations delay the kernel. With
/// many warps, the pipelines delay it.
struct ComputeKernel {
  std::uint64_t warps{1};
  Program body{};
};

ComputeKernel compute_kernel(ComputeWork work) {
  switch (work) {
    case ComputeWork::functions:
      return {8, {special(1), special(2), alu(3, {1}), alu(4, {2})}};
    case ComputeWork::branches:
      return {2, {alu(1), branch({1}), alu(2), branch({2})}};
    default:
      return {2, {alu(1, {2}), alu(1, {1}), alu(1, {1}), special(2, {1})}};
  }
}

std::uint64_t local_bytes_of(const Machine& machine, const Implicit& implicit) {
  constexpr std::uint64_t element_bytes = 4;
  return implicit.warps * machine.core.warp_width * implicit.elements * element_bytes;
}

}  // namespace

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
    trace.groups.back().local_bytes = local_bytes_of(machine, implicit);
  }
  return trace;
}

std::uint64_t units_of(ComputeWork work) { return work == ComputeWork::tail ? tail_units : 1; }

Trace make_compute(const Machine& machine, ComputeWork work) {
  const ComputeKernel kernel = compute_kernel(work);
  Trace trace;
  for (std::uint32_t unit = 0; unit < units_of(work); ++unit) {
    Program program = kernel.body;
    program.push_back(repeat(0, compute_turns * (unit + 1)));
    trace.programs.push_back(std::move(program));
    trace.groups.push_back(make_group(machine, kernel.warps * machine.core.warp_width, unit,
                                      unit * static_cast<std::uint32_t>(kernel.warps)));
  }
  return trace;
}

}  // namespace clprobe::gsi
