// SPDX-License-Identifier: Apache-2.0
// Kernels that load and store nothing: each waits for one thing that a pipeline, a branch or a
// longer work-group is.
#include <cstdint>
#include <utility>

#include "probes/gsi/cases.hpp"

namespace clprobe::gsi {
namespace {

using simulator::alu;
using simulator::branch;
using simulator::Program;
using simulator::repeat;
using simulator::special;

constexpr std::uint64_t compute_turns = 100;
constexpr std::uint64_t tail_units = 2;

/// Few warps cannot hide what a result takes; many want a pipeline at once.
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

}  // namespace

std::uint64_t units_of(ComputeWork work) { return work == ComputeWork::tail ? tail_units : 1; }

simulator::Trace make_compute(const simulator::Machine& machine, ComputeWork work) {
  const ComputeKernel kernel = compute_kernel(work);
  simulator::Trace trace;
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
