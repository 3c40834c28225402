// SPDX-License-Identifier: Apache-2.0
// The transposition of cl/banks_transpose.clh as warp instructions. Pure.
#include <cstdint>
#include <vector>

#include "clprobe/simulated.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::banks {
namespace {

using simulator::Instruction;
using simulator::Lanes;
using simulator::Machine;
using simulator::Program;
using simulator::Register;
using simulator::Trace;

// The barriers weigh alike in every turn.
constexpr std::uint64_t max_turns = 8;

/// Where the lanes of each sub-group write their row `j`, and where they read that column.
void add_tables(const Tile& tile, int j, Trace& trace) {
  const std::vector<std::uint32_t> places = places_of(tile);
  const auto side = static_cast<std::size_t>(tile.side);
  std::vector<std::uint64_t> into;
  std::vector<std::uint64_t> from;
  for (int sub_group = 0; sub_group < tile.sub_groups; ++sub_group) {
    const auto row = static_cast<std::size_t>(sub_group) +
                     static_cast<std::size_t>(j) * static_cast<std::size_t>(tile.sub_groups);
    for (std::size_t lane = 0; lane < side; ++lane) {
      into.push_back(places[row * side + lane]);
      from.push_back(places[lane * side + row]);
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

/// Between two clock reads, `count` transpositions; the second waits for the last values.
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

}  // namespace clprobe::banks
