// SPDX-License-Identifier: Apache-2.0
// Kernels that load and store nothing: each waits for one thing that a pipeline or a branch is.
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

simulator::Trace make_compute(const simulator::Machine& machine, ComputeWork work) {
  ComputeKernel kernel = compute_kernel(work);
  kernel.body.push_back(repeat(0, compute_turns));
  simulator::Trace trace;
  trace.programs = {std::move(kernel.body)};
  trace.groups = {make_group(machine, kernel.warps * machine.core.warp_width)};
  return trace;
}

}  // namespace clprobe::gsi
