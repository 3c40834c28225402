// SPDX-License-Identifier: Apache-2.0
// Simulation of cl/stride.cl by warp instructions: the part of one compute unit. Pure.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "probes/stride/stride.hpp"
#include "simulation/api/simulated.hpp"

namespace clprobe::stride {

namespace {

using simulator::Lanes;
using simulator::Machine;
using simulator::Program;
using simulator::Register;
using simulator::Trace;

// Maximum number of simulated batches per work-item. All batches take equally long, except that
// the first and the last one overlap less.
constexpr std::uint64_t max_simulated_batches = 4;
constexpr Register sum = 32;  // the values of a batch use lower registers

/// Part of a launch that runs on one compute unit. All compute units have equal parts.
struct Share {
  std::uint64_t groups{1};
  std::uint64_t items{1};  ///< work-items per work-group
  std::uint64_t batches{1};
};

Share share_of(const Machine& machine, const Shape& shape) {
  const std::uint64_t warps_of_group =
      (shape.work_group + machine.core.warp_width - 1) / machine.core.warp_width;
  const std::uint64_t resident =
      std::max<std::uint64_t>(1, machine.core.warp_contexts / warps_of_group);
  const std::uint64_t all = std::max<std::uint64_t>(1, shape.grid / shape.work_group);
  const std::uint64_t here =
      std::max<std::uint64_t>(1, all / std::max<std::uint64_t>(1, machine.core.compute_units));
  return {std::min(resident, here), shape.work_group,
          std::min(shape.batches(), max_simulated_batches)};
}

/// Returns the byte offset of the first element of each work-item of a share. Work-groups go to
/// the compute units one after another.
std::vector<std::uint64_t> first_elements(const Machine& machine, const Shape& shape,
                                          const Share& share) {
  const std::uint64_t width = machine.core.warp_width;
  const std::uint64_t rounded = (share.items + width - 1) / width * width;
  const std::uint64_t all = std::max<std::uint64_t>(1, shape.grid / shape.work_group);
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t g = 0; g < share.groups; ++g) {
    const std::uint64_t group = g * machine.core.compute_units % all;
    for (std::uint64_t k = 0; k < rounded; ++k) {
      const std::uint64_t item = group * shape.work_group + std::min(k, share.items - 1);
      offsets.push_back(shape.first_of(item) * shape.element_bytes());
    }
  }
  return offsets;
}

/// Returns the program of the batches. In each batch all loads precede the stores.
Program batches_of(const Machine& machine, const Shape& shape, const Share& share) {
  const bool loads = shape.operation != Operation::write;
  const bool stores = shape.operation != Operation::read;
  const std::uint64_t step = shape.stride * shape.element_bytes();
  // The second buffer follows the first one in the simulated address space.
  const std::uint64_t target = uses_two_buffers(shape.operation) ? shape.buffer_bytes() : 0;
  Program program;
  const auto lanes_of = [&](std::uint64_t element, std::uint64_t base) {
    Lanes lanes{.base = base + element * step, .table = 0};
    lanes.bytes = static_cast<std::uint32_t>(shape.element_bytes());
    lanes.turn_step = static_cast<std::int64_t>(shape.unroll() * step);
    lanes.table_lane = 1;
    lanes.table_warp = static_cast<std::uint32_t>(machine.core.warp_width);
    return lanes;
  };
  for (std::uint64_t k = 0; loads && k < shape.unroll(); ++k) {
    program.push_back(simulator::load(static_cast<Register>(k), lanes_of(k, 0)));
  }
  for (std::uint64_t k = 0; k < shape.unroll(); ++k) {
    const auto value = static_cast<Register>(k);
    if (loads) program.push_back(simulator::alu(sum, {value, sum}));
    if (!stores) continue;
    const Lanes to = lanes_of(k, target);
    program.push_back(loads ? simulator::store(to, {value}) : simulator::store(to));
  }
  if (share.batches > 1) program.push_back(simulator::repeat(0, share.batches));
  return program;
}

}  // namespace

SimulatedWork trace(const Machine& machine, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  if (shape.buffer != BufferKind::device) {
    throw Unsupported("the simulator has no host memory");
  }
  const Share share = share_of(machine, shape);
  SimulatedWork work;
  const std::uint64_t bytes = share.groups * share.items * share.batches * shape.unroll() *
                              shape.element_bytes() * directions_of(shape.operation);
  work.accesses_per_iteration = bytes * machine.core.compute_units;
  work.max_iterations = 1;
  work.trace = [machine, shape, share](std::uint64_t) {
    Trace made;
    made.tables = {first_elements(machine, shape, share)};
    made.programs = {batches_of(machine, shape, share)};
    const std::uint64_t warps =
        (share.items + machine.core.warp_width - 1) / machine.core.warp_width;
    for (std::uint64_t g = 0; g < share.groups; ++g) {
      made.groups.push_back(
          make_group(machine, share.items, 0, static_cast<std::uint32_t>(g * warps)));
    }
    return made;
  };
  return work;
}

}  // namespace clprobe::stride
