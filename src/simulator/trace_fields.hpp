// SPDX-License-Identifier: Apache-2.0
// The words of the text of traces, once for who reads it and who writes it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "clprobe/trace.hpp"

namespace clprobe::simulator::trace_words {

inline constexpr std::string_view first_line = "clprobe-trace 1";
inline constexpr std::string_view loop = "repeat";
inline constexpr std::string_view end = "end";
inline constexpr std::string_view skips_l1 = "skips_l1";
inline constexpr std::string_view mapped = "mapped";
inline constexpr std::string_view written_elsewhere = "written_elsewhere";

/// What stands behind an instruction's word, before its fields.
enum class Operand : std::uint8_t { none, result, lock, copy, clock };

struct Form {
  Operation operation{};
  std::string_view word{};
  Operand operand{Operand::none};
  bool has_address{false};
};

/// All but `repeat`, which is a block.
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

/// Both kinds of local access can name the copy that they need.
constexpr bool may_need_copy(Operation operation) {
  return operation == Operation::local_load || operation == Operation::local_store;
}
/// Both kinds of access can find a line that another compute unit has written, or one that is
/// mapped to local memory.
constexpr bool is_of_global_lines(Operation operation) {
  return operation == Operation::load || operation == Operation::store;
}

inline constexpr std::uint64_t max_lanes = 64;
inline constexpr std::uint64_t max_access_bytes = 64;
inline constexpr std::uint64_t max_id = 65535;  ///< of copies and clock reads

/// The fields of an address but those of its table, in the order in which they are written.
/// `Of` is Lanes, const or not.
template <class Of, class Visitor>
void visit_address(Of& lanes, Visitor& fields) {
  fields.address("at", lanes.base);
  fields.step("lane", lanes.lane_step);
  fields.step("warp", lanes.warp_step);
  fields.step("turn", lanes.turn_step);
  fields.count("lane_group", lanes.lane_group, 1, max_lanes);
  fields.count("warp_group", lanes.warp_group, 1, std::numeric_limits<std::uint32_t>::max());
  fields.count("active", lanes.active, 1, max_lanes);
  fields.count("bytes", lanes.bytes, 1, max_access_bytes);
}

/// How the place in a table is found.
template <class Of, class Visitor>
void visit_place(Of& lanes, Visitor& fields) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  fields.count("table_lane", lanes.table_lane, 0, most);
  fields.count("table_warp", lanes.table_warp, 0, most);
  fields.count("table_turn", lanes.table_turn, 0, most);
}

/// Whether the table is a list of addresses, one for each active lane: written as `addresses`.
template <class Tables>
bool is_list(const Lanes& lanes, const Tables& tables) {
  return lanes.table != Lanes::no_table && lanes.active != 0 && lanes.table_lane == 1 &&
         lanes.table_warp == 0 && lanes.table_turn == 0 && lanes.table < tables.size() &&
         tables[lanes.table].size() == lanes.active;
}

}  // namespace clprobe::simulator::trace_words
