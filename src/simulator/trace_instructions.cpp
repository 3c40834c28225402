// SPDX-License-Identifier: Apache-2.0
#include "simulator/trace_instructions.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <utility>

namespace clprobe::simulator {
namespace {

using trace_words::Form;
using trace_words::Operand;

constexpr std::uint64_t max_tables = 1U << 21U;

/// Reads the fields of an address that stand in the line.
class FieldReader {
 public:
  explicit FieldReader(TraceLine& line) : line_(line) {}

  void address(std::string_view name, std::uint64_t& value) {
    value = line_.number_or(name, value, 0, any_number);
  }
  void step(std::string_view name, std::int64_t& value) {
    const auto text = line_.take_field(name);
    if (!text) return;
    const bool is_negative = text->starts_with('-');
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto size = whole_number(text->substr(is_negative ? 1 : 0), 0, most);
    if (!size) {
      line_.refuse(fmt::format("{}= expects a whole number, found {}", name, shown(*text)));
    }
    value = is_negative ? -static_cast<std::int64_t>(*size) : static_cast<std::int64_t>(*size);
  }
  void count(std::string_view name, std::uint32_t& value, std::uint64_t least, std::uint64_t most) {
    value = static_cast<std::uint32_t>(line_.number_or(name, value, least, most));
  }

 private:
  TraceLine& line_;
};

Register register_in(const TraceLine& line, std::string_view word) {
  const auto number =
      word.starts_with('r') ? whole_number(word.substr(1), 0, register_count - 1U) : std::nullopt;
  if (!number) line.refuse(fmt::format("expected a register, r0 to r63, found {}", shown(word)));
  return static_cast<Register>(*number);
}

std::vector<std::uint64_t> addresses_in(const TraceLine& line, std::string_view text) {
  std::vector<std::uint64_t> found;
  for (const std::string_view each : comma_parts(text)) {
    found.push_back(line.number_in("addresses", each, 0, any_number));
  }
  if (found.size() > trace_words::max_lanes) line.refuse("more than 64 addresses");
  return found;
}

}  // namespace

void InstructionReader::read_table(TraceLine& line) {
  const auto number = line.take_number("a table's number", 0, max_tables);
  if (number > named_.size()) {
    line.refuse(fmt::format("the next table has the number {}", named_.size()));
  }
  if (number == named_.size()) {
    named_.push_back(static_cast<std::uint32_t>(trace_.tables.size()));
    trace_.tables.emplace_back();
  }
  std::vector<std::uint64_t>& table = trace_.tables[named_[number]];
  do {
    table.push_back(line.take_number("an address", 0, any_number));
    count_entries(line, 1);
  } while (line.has_word());
}

Instruction InstructionReader::read(TraceLine& line, const Form& form) {
  Instruction instruction{.operation = form.operation};
  read_operand(line, form, instruction);
  if (form.operation == Operation::copy_in || form.operation == Operation::copy_out) {
    instruction.count = line.need_number("size", 1, max_copy_bytes);
  }
  if (form.has_address) read_address(line, instruction.lanes);
  if (trace_words::may_need_copy(form.operation)) {
    instruction.id = static_cast<std::uint32_t>(line.number_or("copy", 0, 1, trace_words::max_id));
  }
  if (const auto needs = line.take_field("needs")) {
    for (const std::string_view each : comma_parts(*needs)) {
      instruction.reads |= std::uint64_t{1} << register_in(line, each);
    }
  } else if (form.operation == Operation::release) {
    instruction.reads = release(0).reads;
  }
  if (form.operation == Operation::load) {
    instruction.skips_l1 = line.take_flag(trace_words::skips_l1);
  }
  if (trace_words::is_of_global_lines(form.operation)) {
    instruction.is_mapped = line.take_flag(trace_words::mapped);
    instruction.is_written_elsewhere = line.take_flag(trace_words::written_elsewhere);
  }
  return instruction;
}

void InstructionReader::read_operand(TraceLine& line, const Form& form,
                                     Instruction& instruction) const {
  const auto take = [&](std::string_view what, std::uint64_t most) {
    return static_cast<std::uint32_t>(line.take_number(what, 0, most));
  };
  switch (form.operand) {
    case Operand::none:
      return;
    case Operand::result:
      instruction.writes = std::uint64_t{1}
                           << register_in(line, line.take_word("a register, r0 to r63"));
      return;
    case Operand::lock:
      if (trace_.locks.empty()) line.refuse("expected a lock above the programs");
      instruction.id = take("a lock", trace_.locks.size() - 1);
      return;
    case Operand::copy:
      instruction.id = take("a copy's number", trace_words::max_id);
      return;
    case Operand::clock:
      instruction.id = take("a clock's number", trace_words::max_id);
      return;
  }
}

void InstructionReader::read_address(TraceLine& line, Lanes& lanes) {
  FieldReader fields(line);
  trace_words::visit_address(lanes, fields);
  const auto addresses = line.take_field("addresses");
  const auto mask = line.take_field("mask");
  const auto table = line.take_field("table");
  if (int{addresses.has_value()} + int{mask.has_value()} + int{table.has_value()} > 1) {
    line.refuse("addresses=, mask= and table= exclude each other");
  }
  if ((addresses || mask) && lanes.active != 0) {
    line.refuse("active= is how many lanes addresses= or mask= has: leave it out");
  }
  if (addresses) return set_list(line, lanes, addresses_in(line, *addresses));
  if (mask) return set_mask(line, lanes, *mask);
  if (!table) return;
  lanes.table = named_table(line, *table);
  trace_words::visit_place(lanes, fields);
}

void InstructionReader::set_list(const TraceLine& line, Lanes& lanes,
                                 std::vector<std::uint64_t> addresses) {
  count_entries(line, addresses.size());
  lanes.active = static_cast<std::uint32_t>(addresses.size());
  lanes.table = static_cast<std::uint32_t>(trace_.tables.size());
  lanes.table_lane = 1;
  trace_.tables.push_back(std::move(addresses));
}

/// Lanes of a mask that has holes become a list of their distances from `at`.
void InstructionReader::set_mask(const TraceLine& line, Lanes& lanes, std::string_view text) {
  std::uint64_t bits = line.number_in("mask", text, 1, any_number);
  if (std::has_single_bit(bits + 1) || bits == any_number) {
    lanes.active = static_cast<std::uint32_t>(std::popcount(bits));
    return;
  }
  std::vector<std::uint64_t> distances;
  for (; bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<std::uint64_t>(std::countr_zero(bits)) / lanes.lane_group;
    distances.push_back(lane * static_cast<std::uint64_t>(lanes.lane_step));
  }
  lanes.lane_step = 0;
  lanes.lane_group = 1;
  set_list(line, lanes, std::move(distances));
}

std::uint32_t InstructionReader::named_table(const TraceLine& line, std::string_view text) const {
  if (named_.empty()) line.refuse("expected a table above it");
  return named_[line.number_in("table", text, 0, named_.size() - 1)];
}

void InstructionReader::count_entries(const TraceLine& line, std::size_t more) {
  entries_ += more;
  if (entries_ > max_entries || trace_.tables.size() >= max_tables) {
    line.refuse(fmt::format("more than {} addresses in tables and lists", max_entries));
  }
}

}  // namespace clprobe::simulator
