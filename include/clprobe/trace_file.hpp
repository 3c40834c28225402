// SPDX-License-Identifier: Apache-2.0
// A trace as text, a line per instruction: for kernels that come from outside. The format, with its
// grammar and limits, is docs/trace.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/trace.hpp"

namespace clprobe::simulator {

/// The owner of the groups of a file: one compute unit, which runs them all, or a whole launch, of
/// which each unit of a machine runs its share.
enum class GroupsOf { unit, launch };

struct TraceFile {
  std::string kernel{"kernel"};  ///< what it is called in reports: see is_kernel_name()
  GroupsOf groups_of{GroupsOf::unit};
  Trace trace{};
};

/// One line: "line 12: expected a register, r0 to r63, found 'x1'".
class TraceFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Letters, digits and some marks, in ASCII, up to 64 of them.
bool is_kernel_name(std::string_view name);

/// Strict: throws TraceFileError at the first line that is not of the format, or passes a limit
/// that keeps reading and simulating it within the memory and the patience of a person.
TraceFile read_trace_file(std::string_view text);

/// Number of compute units of the machine that run the file: one, or all.
std::uint64_t max_units_of(const TraceFile& file, const Machine& machine);

/// The share of the first `units` compute units of the machine, with the programs that they need.
/// More units than the machine has are a machine with so many. Several units want the same locks,
/// which nobody else holds where all of the units are there.
Trace share_of_units(const TraceFile& file, const Machine& machine, std::uint64_t units);

/// The text of a trace piece by piece, for programs that have no trace as a whole. Throws
/// TraceError for what has no text, such as loops that overlap.
std::string header_text(std::string_view kernel, GroupsOf groups_of);
/// `numbers`: in the text, by table, of those that are not lists with an entry for each active
/// lane.
std::string program_text(const Program& program, std::size_t number,
                         const std::vector<std::vector<std::uint64_t>>& tables,
                         const std::vector<std::uint32_t>& numbers = {});
std::string group_text(const Group& group);

}  // namespace clprobe::simulator
