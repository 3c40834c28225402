// SPDX-License-Identifier: Apache-2.0
// Simulation of cl/line.cl as warp instructions. Pure.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "probes/line/line.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/ring_trace.hpp"
#include "simulation/api/simulated.hpp"

namespace clprobe::line {
namespace {

using simulator::Machine;
using simulator::Trace;

// Simulated hops differ only in their lines, so that a few hops show the latency.
constexpr std::uint64_t simulated_hops = 1024;

/// Returns the offsets of the words of a chase: the first `hops` words, and the last words that the
/// caches can hold.
std::vector<std::uint64_t> words_of(const Machine& machine, const Shape& shape,
                                    std::uint64_t hops) {
  std::vector<std::uint64_t> words;
  for (const std::uint64_t node : ends_of_ring(shape.nodes, false, hops, aged_lines(machine))) {
    const std::uint64_t offset = shape.offset_of(static_cast<std::uint32_t>(node));
    words.push_back(offset);
    if (shape.distance_bytes) words.push_back(offset + *shape.distance_bytes);
  }
  return words;
}

}  // namespace

SimulatedWork trace(const Machine& machine, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  SimulatedWork work;
  work.accesses_per_iteration = unroll / shape.hops_per_node();
  work.iterations = simulated_hops / unroll;
  work.max_iterations = work.iterations;
  work.trace = [machine, shape](std::uint64_t iterations) {
    Trace trace;
    trace.tables = {words_of(machine, shape, iterations * unroll)};
    const simulator::Lanes lanes{.active = 1, .table = 0, .table_turn = 1};
    constexpr simulator::Register at = 0;
    trace.programs = {{simulator::alu(at), simulator::read_clock(0, {at}),
                       simulator::load(at, lanes, {at}), simulator::repeat(2, iterations * unroll),
                       simulator::read_clock(1, {at})}};
    trace.groups = {make_group(machine, 1)};
    if (!shape.flush_bytes) trace.resident = walked_caches(machine, trace.tables.front().size());
    return trace;
  };
  return work;
}

}  // namespace clprobe::line
