// SPDX-License-Identifier: Apache-2.0
// Simulation of cl/inflight.cl by warp instructions. Pure.
#include <algorithm>

#include "probes/inflight/inflight.hpp"
#include "probes/inflight/loaded.hpp"
#include "probes/inflight/shape.hpp"
#include "simulation/api/simulated.hpp"

namespace clprobe::inflight {
namespace {

using simulator::Instruction;
using simulator::Lanes;
using simulator::Machine;
using simulator::Program;
using simulator::Register;
using simulator::Trace;

// Simulated hops differ only in their lines, so that a few hops show the latency.
constexpr std::uint64_t hops = 32;

Trace one_group(const Machine& machine, std::uint64_t work_items, Program program) {
  Trace trace;
  trace.programs = {std::move(program)};
  trace.groups = {make_group(machine, work_items)};
  return trace;
}

void make_resident(Trace& trace, const Shape& shape, std::uint64_t lines) {
  if (shape.pattern.target != "cache" || lines == 0) return;
  trace.resident = {{.base = 0, .bytes = lines * shape.line_bytes}};
}

/// Adds the loads of one round to `program`, and makes the instruction `end` wait for all of them.
void add_loads(const Machine& machine, const Shape& shape, Program& program, Instruction& end) {
  const auto line = static_cast<std::int64_t>(shape.line_bytes);
  const auto merger = static_cast<std::uint32_t>(shape.pattern.merger);
  const bool is_across = shape.pattern.mode == MergerMode::across;
  for (int k = 0; k < shape.pattern.loads; ++k) {
    Lanes lanes;
    lanes.base = static_cast<std::uint64_t>(k) * shape.lines_per_load() * shape.line_bytes;
    lanes.lane_step = line;
    const auto width = static_cast<std::int64_t>(machine.core.warp_width);
    lanes.warp_step = width * line / (is_across ? 1 : static_cast<std::int64_t>(merger));
    lanes.lane_group = is_across ? 1 : merger;
    lanes.warp_group = is_across ? merger : 1;
    // If more work-items than a warp has lanes share a line, all work-items of a warp load the
    // same line.
    if (!is_across && merger > machine.core.warp_width) {
      lanes.warp_step = line;
      lanes.warp_group = merger / static_cast<std::uint32_t>(machine.core.warp_width);
    }
    program.push_back(simulator::load(static_cast<Register>(k), lanes));
    end.reads |= std::uint64_t{1} << static_cast<unsigned>(k);
  }
}

/// Returns the trace of one round: barrier, clock read, loads, a barrier that waits for all
/// values, clock read.
Trace block_of(const Machine& machine, const Shape& shape) {
  Program program{simulator::barrier(), simulator::read_clock(0)};
  Instruction end = simulator::barrier();
  add_loads(machine, shape, program, end);
  program.push_back(end);
  program.push_back(simulator::read_clock(1));
  Trace trace = one_group(machine, shape.work_items, std::move(program));
  make_resident(trace, shape, shape.lines_per_round());
  return trace;
}

/// Returns the trace of one round with a timed sub-group: barrier, clock read, loads, a clock read
/// that waits for all values, barrier. All sub-groups read clocks, and only the timed sub-group's
/// readings count.
Trace own_time_of(const Machine& machine, const Shape& shape) {
  const auto program_with = [&](std::uint32_t first_clock) {
    Program program{simulator::barrier(), simulator::read_clock(first_clock)};
    Instruction end = simulator::read_clock(first_clock + 1);
    add_loads(machine, shape, program, end);
    program.push_back(end);
    program.push_back(simulator::barrier());
    return program;
  };
  constexpr std::uint32_t not_timed = 2;
  Trace trace = one_group(machine, shape.work_items, program_with(not_timed));
  trace.programs.push_back(program_with(0));
  trace.groups.front().warps.at(shape.number()).program = 1;
  make_resident(trace, shape, shape.lines_per_round());
  return trace;
}

/// Returns the trace of concurrent chains. Every hop loads another line.
Trace chains_of(const Machine& machine, const Shape& shape, std::uint64_t iterations) {
  const std::uint64_t all = shape.work_items * shape.chains;
  const auto line = static_cast<std::int64_t>(shape.line_bytes);
  Program program{simulator::barrier(), simulator::read_clock(0)};
  const auto body = static_cast<std::uint32_t>(program.size());
  Instruction end = simulator::barrier();
  for (std::uint64_t c = 0; c < shape.chains; ++c) {
    Lanes lanes;
    lanes.base = c * shape.work_items * shape.line_bytes;
    lanes.lane_step = line;
    lanes.warp_step = line * static_cast<std::int64_t>(machine.core.warp_width);
    lanes.turn_step = line * static_cast<std::int64_t>(all);
    const auto at = static_cast<Register>(c);
    program.push_back(simulator::load(at, lanes, {at}));
    end.reads |= std::uint64_t{1} << c;
  }
  if (iterations > 1) program.push_back(simulator::repeat(body, iterations));
  program.push_back(end);
  program.push_back(simulator::read_clock(1));
  Trace trace = one_group(machine, shape.work_items, std::move(program));
  make_resident(trace, shape, all * iterations);
  return trace;
}

}  // namespace

SimulatedWork trace(const Machine& machine, const Point& point) {
  if (is_loaded(point)) throw Unsupported("the simulator runs a single compute unit");
  const Shape shape = Shape::of(point);
  if (shape.pattern.target == "host") throw Unsupported("the simulator has no host memory");
  SimulatedWork work;
  if (shape.is_block()) {
    work.max_iterations = 1;
    work.trace = [machine, shape](std::uint64_t) {
      return shape.kind == Kind::block ? block_of(machine, shape) : own_time_of(machine, shape);
    };
    return work;
  }
  const std::uint64_t all = shape.work_items * shape.chains;
  work.accesses_per_iteration = all;
  work.iterations = hops;
  if (shape.pattern.target == "cache") {
    work.iterations = std::clamp<std::uint64_t>(shape.lines() / all, 1, hops);
  }
  work.max_iterations = work.iterations;
  work.trace = [machine, shape](std::uint64_t iterations) {
    return chains_of(machine, shape, iterations);
  };
  return work;
}

}  // namespace clprobe::inflight
