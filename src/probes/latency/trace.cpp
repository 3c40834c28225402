// SPDX-License-Identifier: Apache-2.0
// Simulation of cl/latency.cl as warp instructions. Pure.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "probes/latency/latency.hpp"
#include "probes/shared/ring_trace.hpp"
#include "simulation/api/simulated.hpp"

namespace clprobe::latency {

namespace {

using simulator::Lanes;
using simulator::Machine;
using simulator::Trace;

// Simulated hops differ only in their lines, so that a few hops show the latency.
constexpr std::uint64_t hops = 1024;
Trace chase_of(const Machine& machine, const std::vector<std::uint64_t>& offsets, bool is_local,
               std::uint64_t unroll, std::uint64_t iterations) {
  const std::uint64_t nodes = offsets.size();
  Trace trace;
  trace.tables = {offsets};
  const Lanes lanes{.active = 1, .bytes = 8, .table = 0, .table_turn = 1};
  constexpr simulator::Register at = 0;
  const auto hop =
      is_local ? simulator::local_load(at, lanes, {at}) : simulator::load(at, lanes, {at});
  simulator::Program program{simulator::alu(at), simulator::read_clock(0, {at}), hop};
  if (iterations * unroll > 1) program.push_back(simulator::repeat(2, iterations * unroll));
  program.push_back(simulator::read_clock(1, {at}));
  trace.programs = {std::move(program)};
  trace.groups = {make_group(machine, 1)};
  if (is_local) return trace;
  trace.resident = walked_caches(machine, nodes);
  return trace;
}

}  // namespace

SimulatedWork trace(const Machine& machine, const Point& point) {
  const SeriesSpec& series = series_named(point.series);
  const bool is_local = series.space == Space::local;
  if (series.space != Space::global && !is_local) {
    throw Unsupported("the simulator does not model this memory");
  }
  const auto shape = shape_of<RingShape>(point);
  SimulatedWork work;
  work.accesses_per_iteration = shape.unroll;
  work.iterations = std::max<std::uint64_t>(1, hops / shape.unroll);
  work.max_iterations = work.iterations;
  work.trace = [machine, shape, is_local,
                is_in_order = series.is_in_order](std::uint64_t iterations) {
    std::vector<std::uint64_t> offsets =
        ends_of_ring(shape.nodes(), is_in_order, iterations * shape.unroll, aged_lines(machine));
    for (std::uint64_t& each : offsets) each = shape.offset_of(static_cast<std::uint32_t>(each));
    return chase_of(machine, offsets, is_local, shape.unroll, iterations);
  };
  return work;
}

}  // namespace clprobe::latency
