// SPDX-License-Identifier: Apache-2.0
// Simulation of cl/bandwidth.cl as warp instructions: the walks of one compute unit. Pure.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "probes/bandwidth/bandwidth.hpp"
#include "simulation/api/simulated.hpp"

namespace clprobe::bandwidth {

namespace {

using simulator::Lanes;
using simulator::Machine;
using simulator::Program;
using simulator::Register;
using simulator::Resident;
using simulator::Trace;

// Length of a simulated walk, in latencies. In L2 and memory, the wait for the first bytes is then
// 0.5 % of the time. In L1 and local memory, the wait for the last warp is a small part.
constexpr std::uint64_t latencies_far = 200;
constexpr std::uint64_t latencies_near = 2000;
// Maximum length of a simulated walk in bytes. The host takes about one cache miss per line.
constexpr std::uint64_t max_bytes = std::uint64_t{16} << 20U;
// Length of a walk, in capacities of a cache, that displaces the first lines of the walk from all
// cache sets.
constexpr std::uint64_t forgotten_capacities = 2;

/// Returns the number of walks in a work-group. Only points in local memory have more than one
/// walk per group.
std::uint64_t walks_of_group(const Shape& shape) { return shape.group / shape.lanes; }

/// Returns the number of simulated blocks of a walk. All blocks take equally long, so a part of
/// the walk suffices.
std::uint64_t turns_of(const Machine& machine, const Shape& shape) {
  constexpr std::uint64_t min_turns = 4;
  const bool is_near = shape.operation == Operation::local ||
                       (machine.l1.keeps_loads && shape.region_bytes() <= machine.l1.bytes);
  const std::uint64_t cycles =
      is_near ? std::max(machine.l1.latency_cycles, machine.local.latency_cycles)
              : machine.memory.latency_cycles.high;
  const double port = std::max(machine.l2.bytes_per_cycle, machine.memory.bytes_per_cycle);
  const std::uint64_t bytes_per_cycle =
      std::min(machine.load_store.lines_per_interval * machine.l1.line_bytes,
               is_near ? ~std::uint64_t{0} : static_cast<std::uint64_t>(port));
  const std::uint64_t bytes_of_turn = shape.block_bytes() * walks_of_group(shape);
  const std::uint64_t bytes = (is_near ? latencies_near : latencies_far) * cycles * bytes_per_cycle;
  return std::max(min_turns, std::min(max_bytes, bytes) / bytes_of_turn);
}

/// Returns the byte offsets of the blocks of a walk.
std::vector<std::uint64_t> offsets_of(const Shape& shape, std::uint64_t turns) {
  std::vector<std::uint64_t> offsets;
  const std::uint64_t count = std::min(shape.blocks, turns);
  for (std::uint64_t block = 0; block < count; ++block) {
    offsets.push_back(block * shape.block_bytes());
  }
  return offsets;
}

Program walk_of(const Shape& shape, std::uint64_t width, std::uint64_t turns) {
  const std::uint64_t vector_bytes = shape.vector * sizeof(std::uint32_t);
  const bool is_local = shape.operation == Operation::local;
  const auto sum = static_cast<Register>(shape.unroll());  // loaded values use lower registers
  Program program;
  for (std::uint64_t k = 0; k < shape.unroll(); ++k) {
    Lanes lanes{.base = k * shape.lanes * vector_bytes, .table = 0, .table_turn = 1};
    lanes.lane_step = static_cast<std::int64_t>(vector_bytes);
    lanes.warp_step = static_cast<std::int64_t>(width * vector_bytes);
    lanes.bytes = static_cast<std::uint32_t>(vector_bytes);
    const auto value = static_cast<Register>(k);
    program.push_back(is_local ? simulator::local_load(value, lanes)
                               : simulator::load(value, lanes));
  }
  for (std::uint64_t k = 0; k < shape.unroll(); ++k) {
    program.push_back(simulator::alu(sum, {static_cast<Register>(k), sum}));
  }
  program.push_back(simulator::repeat(0, turns));
  return program;
}

/// Adds the contents of a cache of `bytes` bytes after an earlier walk over the region. The cache
/// holds the whole region, or nothing if the region exceeds twice the size of the cache.
void add_walked(Trace& trace, Resident::Home home, std::uint64_t bytes, std::uint64_t region) {
  if (region > forgotten_capacities * bytes) return;
  trace.resident.push_back({.home = home, .base = 0, .bytes = region});
}

/// Returns the machine with L2 reduced to the part of one unit if each unit has its own working
/// set.
Machine share_of(Machine machine, const Shape& shape) {
  if (shape.regions == 1 || machine.l2.bytes == 0) return machine;
  const std::uint64_t set = machine.l2.ways * machine.l1.line_bytes;
  machine.l2.bytes = std::max<std::uint64_t>(1, machine.l2.bytes / shape.regions / set) * set;
  return machine;
}

Trace trace_of(const Machine& machine, const Shape& shape, std::uint64_t turns) {
  Trace trace;
  trace.tables = {offsets_of(shape, turns)};
  trace.programs = {walk_of(shape, machine.core.warp_width, turns)};
  trace.groups = {make_group(machine, shape.group)};
  if (shape.operation == Operation::local) return trace;
  add_walked(trace, Resident::Home::l2, machine.l2.bytes, shape.region_bytes());
  add_walked(trace, Resident::Home::l1, machine.l1.bytes, shape.region_bytes());
  return trace;
}

}  // namespace

SimulatedWork trace(const Machine& machine, const Point& point) {
  const SeriesSpec* const series = series_named(point.series);
  const auto shape = shape_of<Shape>(point);
  if (writes(shape.operation) || shape.operation == Operation::image) {
    throw Unsupported("the simulator models neither images nor the time of write-backs");
  }
  const Machine here = share_of(machine, shape);
  const std::uint64_t turns = turns_of(here, shape);
  const bool is_one = series != nullptr && series->is_one_unit;
  SimulatedWork work;
  work.machine = here;
  // The simulated unit stands for all units, which do equal work.
  work.accesses_per_iteration =
      turns * shape.block_bytes() * walks_of_group(shape) *
      (is_one ? 1 : std::max<std::uint64_t>(1, machine.core.compute_units));
  work.max_iterations = 1;
  work.trace = [here, shape, turns](std::uint64_t) { return trace_of(here, shape, turns); };
  return work;
}

}  // namespace clprobe::bandwidth
