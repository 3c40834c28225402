// SPDX-License-Identifier: Apache-2.0
// Instructions of a trace from their lines, and the tables that their addresses are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "clprobe/trace.hpp"
#include "simulator/trace_fields.hpp"
#include "simulator/trace_lines.hpp"

namespace clprobe::simulator {

class InstructionReader {
 public:
  /// Addresses in tables and lists together: 128 MiB.
  static constexpr std::uint64_t max_entries = 1U << 24U;
  /// Far more than local memories have.
  static constexpr std::uint64_t max_copy_bytes = 1U << 24U;

  /// Appends to the tables of `trace`, which must outlive it.
  explicit InstructionReader(Trace& trace) : trace_(trace) {}

  /// "table 0 0x1000 0x2000": a new table, or more of one.
  void read_table(TraceLine& line);
  /// The place in the trace of the table that has this number in the file.
  [[nodiscard]] std::uint32_t named_table(const TraceLine& line, std::string_view text) const;
  Instruction read(TraceLine& line, const trace_words::Form& form);

 private:
  void read_operand(TraceLine& line, const trace_words::Form& form, Instruction& instruction) const;
  void read_address(TraceLine& line, Lanes& lanes);
  void set_list(const TraceLine& line, Lanes& lanes, std::vector<std::uint64_t> addresses);
  void set_mask(const TraceLine& line, Lanes& lanes, std::string_view text);
  void count_entries(const TraceLine& line, std::size_t more);

  Trace& trace_;
  std::vector<std::uint32_t> named_{};  ///< by their numbers: places in the trace
  std::uint64_t entries_{0};
};

}  // namespace clprobe::simulator
