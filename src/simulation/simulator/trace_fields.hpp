// SPDX-License-Identifier: Apache-2.0
// The fields of a trace's instructions in text form, in one list for the reader and the writer.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "simulation/api/simulator.hpp"

namespace clprobe::simulator::trace_words {

inline constexpr std::string_view first_line = "clprobe-trace 1";
inline constexpr std::string_view loop = "repeat";
inline constexpr std::string_view end = "end";

inline constexpr std::uint64_t max_lanes = 64;
inline constexpr std::uint64_t max_access_bytes = 64;
inline constexpr std::uint64_t max_id = 65535;  ///< maximum number of a copy or a clock read
/// Maximum size of a copy, far above the size of local memories.
inline constexpr std::uint64_t max_copy_bytes = 1U << 24U;

/// Kind of the word after an instruction's name.
enum class Operand : std::uint8_t { none, result, lock, copy, clock };

struct Form {
  Operation operation{};
  std::string_view word{};
  Operand operand{Operand::none};
  bool has_address{false};
};

/// All instructions except `repeat`, which begins a block.
inline constexpr std::array forms{
    Form{Operation::alu, "alu", Operand::result},
    Form{Operation::special, "special", Operand::result},
    Form{Operation::load, "load", Operand::result, true},
    Form{Operation::store, "store", Operand::none, true},
    Form{Operation::atomic, "atomic", Operand::result, true},
    Form{Operation::local_load, "local_load", Operand::result, true},
    Form{Operation::local_store, "local_store", Operand::none, true},
    Form{Operation::barrier, "barrier", Operand::none},
    Form{Operation::acquire, "acquire", Operand::lock},
    Form{Operation::release, "release", Operand::lock},
    Form{Operation::copy_in, "copy_in", Operand::copy, true},
    Form{Operation::copy_out, "copy_out", Operand::copy, true},
    Form{Operation::copy_wait, "copy_wait", Operand::copy},
    Form{Operation::branch, "branch", Operand::none},
    Form{Operation::clock, "clock", Operand::clock},
};

/// Calls `fields` for each field of an instruction, in the order of the text. `Of` is Instruction
/// or const Instruction.
template <class Of, class Visitor>
void visit_instruction(const Form& form, Of& instruction, Visitor& fields) {
  switch (form.operand) {
    case Operand::none:
      break;
    case Operand::result:
      fields.result(instruction.writes);
      break;
    case Operand::lock:
      fields.lock(instruction.id);
      break;
    case Operand::copy:
      fields.number("a copy's number", instruction.id);
      break;
    case Operand::clock:
      fields.number("a clock's number", instruction.id);
      break;
  }
  const Operation operation = form.operation;
  if (operation == Operation::copy_in || operation == Operation::copy_out) {
    fields.needed("size", instruction.count, 1, max_copy_bytes);
  }
  if (form.has_address) fields.lanes(instruction.lanes);
  if (operation == Operation::local_load || operation == Operation::local_store) {
    fields.count("copy", instruction.id, 0, 1, max_id);
  }
  fields.registers("needs", instruction.reads,
                   operation == Operation::release ? ~std::uint64_t{0} : 0);
  if (operation == Operation::load) fields.flag("skips_l1", instruction.skips_l1);
  if (operation == Operation::load || operation == Operation::store) {
    fields.flag("mapped", instruction.is_mapped);
    fields.flag("written_elsewhere", instruction.is_written_elsewhere);
  }
}

/// Calls `fields` for each field of an address, without the fields of its table.
template <class Of, class Visitor>
void visit_address(Of& lanes, Visitor& fields) {
  fields.address("at", lanes.base);
  fields.step("lane", lanes.lane_step);
  fields.step("warp", lanes.warp_step);
  fields.step("turn", lanes.turn_step);
  fields.count("lane_group", lanes.lane_group, 1, 1, max_lanes);
  fields.count("warp_group", lanes.warp_group, 1, 1, std::numeric_limits<std::uint32_t>::max());
  fields.count("active", lanes.active, 0, 1, max_lanes);
  fields.count("bytes", lanes.bytes, 4, 1, max_access_bytes);
}

/// Calls `fields` for each step that selects an entry of the address's table.
template <class Of, class Visitor>
void visit_place(Of& lanes, Visitor& fields) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  fields.count("table_lane", lanes.table_lane, 0, 0, most);
  fields.count("table_warp", lanes.table_warp, 0, 0, most);
  fields.count("table_turn", lanes.table_turn, 0, 0, most);
}

/// Returns true for a table with one entry per active lane. The text lists its entries as
/// `addresses`.
template <class Tables>
bool is_list(const Lanes& lanes, const Tables& tables) {
  return lanes.table != Lanes::no_table && lanes.active != 0 && lanes.table_lane == 1 &&
         lanes.table_warp == 0 && lanes.table_turn == 0 && lanes.table < tables.size() &&
         tables[lanes.table].size() == lanes.active;
}

}  // namespace clprobe::simulator::trace_words
