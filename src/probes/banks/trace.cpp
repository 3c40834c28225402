// SPDX-License-Identifier: Apache-2.0
// Simulation of cl/banks.cl and cl/banks_transpose.clh as warp instructions. Pure.
#include <cstdint>
#include <vector>

#include "probes/banks/access.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"
#include "simulation/api/simulated.hpp"

namespace clprobe::banks {
namespace {

using simulator::Instruction;
using simulator::Lanes;
using simulator::Machine;
using simulator::Program;
using simulator::Register;
using simulator::Trace;

// Number of transpositions per launch. All transpositions take equally long, so a few suffice.
constexpr std::uint64_t max_turns = 8;

/// Adds the tables of offsets at which each sub-group writes its row `j` and reads its column `j`.
void add_tables(const Tile& tile, int j, Trace& trace) {
  const std::vector<std::uint32_t> offsets = offsets_of(tile);
  const auto side = static_cast<std::size_t>(tile.side);
  std::vector<std::uint64_t> into;
  std::vector<std::uint64_t> from;
  for (int sub_group = 0; sub_group < tile.sub_groups; ++sub_group) {
    const auto row = static_cast<std::size_t>(sub_group) +
                     static_cast<std::size_t>(j) * static_cast<std::size_t>(tile.sub_groups);
    for (std::size_t lane = 0; lane < side; ++lane) {
      into.push_back(offsets[row * side + lane]);
      from.push_back(offsets[lane * side + row]);
    }
  }
  trace.tables.push_back(std::move(into));
  trace.tables.push_back(std::move(from));
}

Lanes lanes_by(const Tile& tile, std::uint32_t table) {
  Lanes lanes;
  lanes.bytes = static_cast<std::uint32_t>(tile.word_bytes);
  lanes.table = table;
  lanes.table_lane = 1;
  lanes.table_warp = static_cast<std::uint32_t>(tile.side);
  return lanes;
}

/// Returns a program of `count` transpositions between two clock reads. The second clock read
/// waits for the last values.
Program transpositions(const Tile& tile, std::uint64_t count) {
  Program program{simulator::barrier(), simulator::read_clock(0)};
  const auto body = static_cast<std::uint32_t>(program.size());
  const auto rows = static_cast<std::uint32_t>(tile.rows_per_sub_group());
  Instruction end = simulator::read_clock(1);
  for (std::uint32_t j = 0; j < rows; ++j) {
    program.push_back(simulator::local_store(lanes_by(tile, 2 * j), {static_cast<Register>(j)}));
  }
  program.push_back(simulator::barrier());
  for (std::uint32_t j = 0; j < rows; ++j) {
    const auto at = static_cast<Register>(j);
    program.push_back(simulator::local_load(at, lanes_by(tile, 2 * j + 1)));
    end.reads |= std::uint64_t{1} << j;
  }
  program.push_back(simulator::barrier());
  if (count > 1) program.push_back(simulator::repeat(body, count));
  program.push_back(end);
  return program;
}

// Numbers of accesses per chain in load-latency and in throughput series. With these numbers, the
// start and the end of a launch are negligible.
constexpr std::uint64_t turns_of_chain = 64;
constexpr std::uint64_t turns = 16;
// Number of accesses after which an offset repeats.
constexpr std::uint32_t period = pattern_block_bytes / all_banks_bytes;
// Register of the load that waits for all stores. The chains use lower registers.
constexpr Register last_load = 62;

/// Returns the byte offsets of the lanes of a chain, one row per access until the offsets repeat.
std::vector<std::uint64_t> offsets_of_chain(const Shape& shape, std::uint32_t chain) {
  constexpr std::uint32_t within = pattern_block_bytes - 1;
  const auto pattern = offsets_of(shape.pattern, shape.word_bytes, shape.lanes);
  std::vector<std::uint64_t> table;
  for (std::uint32_t access = 0; access < period; ++access) {
    for (const std::uint32_t offset : pattern) {
      const std::uint32_t moved = offset + (chain + access) * all_banks_bytes;
      table.push_back((offset & ~within) | (moved & within));
    }
  }
  return table;
}

/// Returns a program with `count` accesses of each chain between two clock reads. The second clock
/// read waits for all accesses.
Program accesses_of(const AccessKind& kind, const Shape& shape, std::uint32_t chains,
                    std::uint64_t count) {
  Program program{simulator::barrier(), simulator::read_clock(0)};
  const auto body = static_cast<std::uint32_t>(program.size());
  for (std::uint32_t chain = 0; chain < chains; ++chain) {
    Lanes lanes;
    lanes.bytes = static_cast<std::uint32_t>(shape.word_bytes);
    lanes.table = chain;
    lanes.table_lane = 1;
    lanes.table_turn = static_cast<std::uint32_t>(shape.lanes);
    const auto at = static_cast<Register>(chain);
    program.push_back(kind.is_store ? simulator::local_store(lanes, {at})
                                    : simulator::local_load(at, lanes, {at}));
  }
  if (count > 1) program.push_back(simulator::repeat(body, count));
  Instruction end = simulator::read_clock(1);
  if (kind.is_store) {
    // Local memory serves accesses in order, so that a load after the stores waits for all stores.
    Lanes one;
    one.active = 1;
    program.push_back(simulator::local_load(last_load, one));
    end.reads = std::uint64_t{1} << last_load;
  } else {
    for (std::uint32_t chain = 0; chain < chains; ++chain) end.reads |= std::uint64_t{1} << chain;
  }
  program.push_back(end);
  return program;
}

}  // namespace

SimulatedWork trace_transposition(const Machine& machine, const Point& point) {
  const auto tile = shape_of<Tile>(point);
  SimulatedWork work;
  work.accesses_per_iteration = tile.accesses();
  work.iterations = max_turns;
  work.max_iterations = max_turns;
  work.trace = [machine, tile](std::uint64_t iterations) {
    Trace made;
    for (int j = 0; j < tile.rows_per_sub_group(); ++j) add_tables(tile, j, made);
    made.programs = {transpositions(tile, iterations)};
    made.groups = {make_group(machine, static_cast<std::uint64_t>(tile.sub_groups) *
                                           static_cast<std::uint64_t>(tile.side))};
    return made;
  };
  return work;
}

SimulatedWork trace(const Machine& machine, const Point& point) {
  if (is_transposition(point)) return trace_transposition(machine, point);
  const AccessKind& kind = kind_of(point.series);
  const auto shape = shape_of<Shape>(point);
  const std::uint32_t chains = kind.is_chain ? 1 : shape.instructions;
  SimulatedWork work;
  work.accesses_per_iteration = kind.is_chain ? 1 : std::uint64_t{chains} * shape.sub_groups;
  work.iterations = kind.is_single ? 1 : kind.is_chain ? turns_of_chain : turns;
  work.max_iterations = work.iterations;
  work.trace = [machine, kind, shape, chains](std::uint64_t iterations) {
    Trace made;
    for (std::uint32_t chain = 0; chain < chains; ++chain) {
      made.tables.push_back(offsets_of_chain(shape, chain));
    }
    made.programs = {accesses_of(kind, shape, chains, iterations)};
    made.groups = {make_group(
        machine, std::uint64_t{shape.sub_groups} * static_cast<std::uint64_t>(shape.lanes))};
    return made;
  };
  return work;
}

}  // namespace clprobe::banks
