// SPDX-License-Identifier: Apache-2.0
// A whole trace as text, which reads back as the same.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "simulation/simulator/trace_fields.hpp"

namespace clprobe::simulator {

/// Numbers for the tables that are written as such: those that some access does not use as a list.
inline std::vector<std::uint32_t> number_tables(const Trace& trace) {
  std::vector<bool> is_named(trace.tables.size(), false);
  for (const Program& program : trace.programs) {
    for (const Instruction& each : program) {
      const bool uses = each.lanes.table < trace.tables.size();
      if (uses && !trace_words::is_list(each.lanes, trace.tables)) {
        is_named[each.lanes.table] = true;
      }
    }
  }
  for (const Resident& each : trace.resident) {
    if (each.table < is_named.size()) is_named[each.table] = true;
  }
  std::vector<std::uint32_t> numbers;
  numbers.reserve(is_named.size());
  std::uint32_t next = 0;
  for (const bool each : is_named) numbers.push_back(each ? next++ : Lanes::no_table);
  return numbers;
}

inline std::string tables_text(const std::vector<std::vector<std::uint64_t>>& tables,
                               const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (numbers[i] == Lanes::no_table) continue;
    // Lines of a bounded length: what follows with the same number is appended.
    constexpr std::size_t of_line = 16;
    for (std::size_t k = 0; k < tables[i].size(); ++k) {
      if (k % of_line == 0) text += fmt::format("{}table {}", k == 0 ? "" : "\n", numbers[i]);
      text += fmt::format(" {:#x}", tables[i][k]);
    }
    text += '\n';
  }
  return text;
}

/// Throws TraceError for programs that are chosen while running, and for loops that overlap.
inline std::string to_text(const TraceFile& file) {
  const Trace& trace = file.trace;
  if (trace.next_program) throw TraceError("programs that are chosen at run time have no text");
  const std::vector<std::uint32_t> numbers = number_tables(trace);
  std::string text = header_text(file.kernel, file.groups_of) + tables_text(trace.tables, numbers);
  for (const Lock& each : trace.locks) {
    const Latency& held = each.held_elsewhere;
    text += fmt::format("lock at={:#x}", each.address);
    text += held == Latency{} ? "\n" : fmt::format(" held={}-{}\n", held.low, held.high);
  }
  for (const Resident& each : trace.resident) {
    text += each.home == Resident::Home::l1 ? "resident l1" : "resident l2";
    if (each.base != 0) text += fmt::format(" at={:#x}", each.base);
    text += each.table == Lanes::no_table
                ? fmt::format(" bytes={}\n", each.bytes)
                : fmt::format(" table={} first={} count={}\n", numbers.at(each.table), each.first,
                              each.count);
  }
  for (std::size_t i = 0; i < trace.programs.size(); ++i) {
    text += program_text(trace.programs[i], i, trace.tables, numbers);
  }
  for (const Group& each : trace.groups) text += group_text(each);
  return text;
}

}  // namespace clprobe::simulator
