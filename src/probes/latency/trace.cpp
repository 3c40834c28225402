// SPDX-License-Identifier: Apache-2.0
// Simulation of cl/latency.cl as warp instructions. Pure.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "probes/latency/latency.hpp"
#include "simulation/api/simulated.hpp"

namespace clprobe::latency {

namespace {

using simulator::Lanes;
using simulator::Machine;
using simulator::Resident;
using simulator::Trace;

// Simulated hops differ only in their lines, so that a few hops show the latency.
constexpr std::uint64_t hops = 1024;
// Nodes that fill the caches twice displace all earlier nodes, even from the sets with the fewest
// nodes.
constexpr std::uint64_t aged_capacities = 2;

/// Single cycle of nodes that is computed node by node, in address order or random order. The
/// random order is a congruential generator of full period (Hull and Dobell 1962) whose numbers
/// beyond the last node are skipped.
class PartialCycle {
 public:
  PartialCycle(std::uint64_t nodes, bool is_in_order)
      : nodes_(nodes), is_in_order_(is_in_order), mask_(std::bit_ceil(nodes) - 1) {
    // Newton's iteration doubles the number of correct bits. The initial value has 3 correct bits,
    // since an odd number is its own inverse modulo 8.
    for (int i = 0; i < 6; ++i) inverse_ *= 2 - factor * inverse_;
  }
  [[nodiscard]] std::uint64_t after(std::uint64_t node) const {
    if (is_in_order_) return node + 1 == nodes_ ? 0 : node + 1;
    do {
      node = (factor * node + increment) & mask_;
    } while (node >= nodes_);
    return node;
  }
  [[nodiscard]] std::uint64_t before(std::uint64_t node) const {
    if (is_in_order_) return (node == 0 ? nodes_ : node) - 1;
    do {
      node = (inverse_ * (node - increment)) & mask_;
    } while (node >= nodes_);
    return node;
  }

 private:
  static constexpr std::uint64_t factor = 6364136223846793005;  // Knuth's factor (1 modulo 4)
  static constexpr std::uint64_t increment = 1442695040888963407;
  std::uint64_t nodes_;
  bool is_in_order_;
  std::uint64_t mask_;
  std::uint64_t inverse_{factor};
};

/// Returns the byte offsets of the first `head` and the last `tail` nodes of the chase. Returns
/// all offsets if the chase has at most `head + tail` nodes.
std::vector<std::uint64_t> offsets_of(const RingShape& shape, bool is_in_order, std::uint64_t head,
                                      std::uint64_t tail) {
  const std::uint64_t nodes = shape.nodes();
  const PartialCycle cycle(nodes, is_in_order);
  const bool is_whole = nodes <= head + tail;
  const std::uint64_t first = is_whole ? nodes : head;
  std::vector<std::uint64_t> offsets(is_whole ? nodes : head + tail);
  const auto offset_of = [&](std::uint64_t node) {
    return shape.offset_of(static_cast<std::uint32_t>(node));
  };
  std::uint64_t node = 0;
  for (std::uint64_t k = 0; k < first; ++k) {
    offsets[k] = offset_of(node);
    node = cycle.after(node);
  }
  node = 0;
  for (std::uint64_t k = offsets.size(); k > first; --k) {
    node = cycle.before(node);
    offsets[k - 1] = offset_of(node);
  }
  return offsets;
}

std::uint64_t aged_lines(std::uint64_t bytes, std::uint64_t line_bytes) {
  return std::max<std::uint64_t>(1, aged_capacities * bytes / line_bytes);
}

/// Returns the contents of a cache of `bytes` bytes after a walk over the ring: the last nodes of
/// the ring.
Resident walked(Resident::Home home, std::uint64_t bytes, std::uint64_t line_bytes,
                std::uint64_t nodes) {
  const std::uint64_t count = std::min(nodes, aged_lines(bytes, line_bytes));
  return {.home = home, .table = 0, .first = nodes - count, .count = count};
}

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
  trace.resident = {walked(Resident::Home::l2, machine.l2.bytes, machine.l1.line_bytes, nodes)};
  if (machine.l1.bytes > 0) {
    trace.resident.push_back(
        walked(Resident::Home::l1, machine.l1.bytes, machine.l1.line_bytes, nodes));
  }
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
    const std::uint64_t aged =
        aged_lines(std::max(machine.l1.bytes, machine.l2.bytes), machine.l1.line_bytes);
    return chase_of(machine, offsets_of(shape, is_in_order, iterations * shape.unroll, aged),
                    is_local, shape.unroll, iterations);
  };
  return work;
}

}  // namespace clprobe::latency
