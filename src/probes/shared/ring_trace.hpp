// SPDX-License-Identifier: Apache-2.0
// Rings of nodes on simulated devices: the nodes of a chase, and the caches after a walk over the
// ring. Only trace.cpp files of probes include this header, since builds may omit the simulator.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "clprobe/run.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/ring.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe {

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

/// Returns the first `head` and the last `tail` nodes of the chase. Returns all nodes if the ring
/// has at most `head + tail`.
inline std::vector<std::uint64_t> ends_of_ring(std::uint64_t nodes, bool is_in_order,
                                               std::uint64_t head, std::uint64_t tail) {
  const PartialCycle cycle(nodes, is_in_order);
  const bool is_whole = nodes <= head + tail;
  const std::uint64_t first = is_whole ? nodes : head;
  std::vector<std::uint64_t> ends(is_whole ? nodes : head + tail);
  std::uint64_t node = 0;
  for (std::uint64_t k = 0; k < first; ++k) {
    ends[k] = node;
    node = cycle.after(node);
  }
  node = 0;
  for (std::uint64_t k = ends.size(); k > first; --k) {
    node = cycle.before(node);
    ends[k - 1] = node;
  }
  return ends;
}

/// Returns the number of lines that displace all earlier lines of a cache: twice its capacity, for
/// the sets with the fewest nodes.
inline std::uint64_t aged_lines(std::uint64_t bytes, std::uint64_t line_bytes) {
  return std::max<std::uint64_t>(1, 2 * bytes / line_bytes);
}

/// Returns the number of lines that displace all earlier lines of all caches.
inline std::uint64_t aged_lines(const simulator::Machine& machine) {
  return aged_lines(std::max(machine.l1.bytes, machine.l2.bytes), machine.l1.line_bytes);
}

/// Returns the contents of both caches after a walk over a chase whose `nodes` offsets are table 0
/// of the trace: the last nodes.
inline std::vector<simulator::Resident> walked_caches(const simulator::Machine& machine,
                                                      std::uint64_t nodes) {
  using simulator::Resident;
  const auto walked = [&](Resident::Home home, std::uint64_t bytes) {
    const std::uint64_t count = std::min(nodes, aged_lines(bytes, machine.l1.line_bytes));
    return Resident{.home = home, .table = 0, .first = nodes - count, .count = count};
  };
  std::vector<Resident> caches{walked(Resident::Home::l2, machine.l2.bytes)};
  if (machine.l1.bytes > 0) caches.push_back(walked(Resident::Home::l1, machine.l1.bytes));
  return caches;
}

// Simulated hops differ only in their lines, so that a few hops show the latency.
inline constexpr std::uint64_t simulated_hops = 1024;

/// Returns the offsets of the words of a chase: the first `hops` words, and the last words that the
/// caches can hold.
inline std::vector<std::uint64_t> words_of(const simulator::Machine& machine,
                                           const RingShape& shape, std::uint64_t hops) {
  std::vector<std::uint64_t> words;
  for (const std::uint64_t node : ends_of_ring(shape.nodes, false, hops, aged_lines(machine))) {
    const std::uint64_t offset = shape.offset_of(static_cast<std::uint32_t>(node));
    words.push_back(offset);
    if (shape.distance_bytes) words.push_back(offset + *shape.distance_bytes);
  }
  return words;
}

/// Returns the simulation of a chase on a ring that was walked once before, or on cold caches.
inline SimulatedWork trace_ring(const simulator::Machine& machine, const Point& point) {
  const auto shape = shape_of<RingShape>(point);
  SimulatedWork work;
  work.accesses_per_iteration = ring_unroll / shape.hops_per_node();
  work.iterations = simulated_hops / ring_unroll;
  work.max_iterations = work.iterations;
  work.trace = [machine, shape](std::uint64_t iterations) {
    simulator::Trace trace;
    trace.tables = {words_of(machine, shape, iterations * ring_unroll)};
    const simulator::Lanes lanes{.active = 1, .table = 0, .table_turn = 1};
    constexpr simulator::Register at = 0;
    trace.programs = {
        {simulator::alu(at), simulator::read_clock(0, {at}), simulator::load(at, lanes, {at}),
         simulator::repeat(2, iterations * ring_unroll), simulator::read_clock(1, {at})}};
    trace.groups = {make_group(machine, 1)};
    if (!shape.flush_bytes) trace.resident = walked_caches(machine, trace.tables.front().size());
    return trace;
  };
  return work;
}

}  // namespace clprobe
