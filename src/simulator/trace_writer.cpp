// SPDX-License-Identifier: Apache-2.0
// Also part of a plugin for another simulator (src/oclgrind): no library but the standard one.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/trace_file.hpp"
#include "simulator/trace_fields.hpp"

namespace clprobe::simulator {
namespace {

using trace_words::Form;
using trace_words::Operand;
using Tables = std::vector<std::vector<std::uint64_t>>;

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string list_of(const std::vector<std::uint64_t>& values, char between) {
  std::string text;
  for (const std::uint64_t each : values) {
    if (!text.empty()) text += between;
    text += hexadecimal(each);
  }
  return text;
}

/// Writes the fields that are not what they are by default.
class FieldWriter {
 public:
  explicit FieldWriter(std::string& text) : text_(text) {}

  void address(std::string_view name, std::uint64_t value) {
    if (value != 0) add(name, hexadecimal(value));
  }
  void step(std::string_view name, std::int64_t value) {
    if (value != 0) add(name, std::to_string(value));
  }
  void count(std::string_view name, std::uint32_t value, std::uint64_t /*least*/,
             std::uint64_t /*most*/) {
    const Lanes usual;
    const bool is_usual = (name == "bytes" && value == usual.bytes) ||
                          (name.ends_with("_group") && value == 1) ||
                          (name != "bytes" && value == 0);
    if (!is_usual) add(name, std::to_string(value));
  }
  void add(std::string_view name, std::string_view value) {
    text_ += ' ';
    text_ += name;
    text_ += '=';
    text_ += value;
  }

 private:
  std::string& text_;
};

void write_address(const Lanes& lanes, const Tables& tables,
                   const std::vector<std::uint32_t>& numbers, std::string& text) {
  FieldWriter fields(text);
  if (trace_words::is_list(lanes, tables)) {
    Lanes rest = lanes;
    rest.active = 0;  // as many as there are addresses
    trace_words::visit_address(std::as_const(rest), fields);
    fields.add("addresses", list_of(tables[lanes.table], ','));
    return;
  }
  trace_words::visit_address(lanes, fields);
  if (lanes.table == Lanes::no_table) return;
  if (lanes.table >= numbers.size()) throw TraceError("an access names a table of addresses that the trace does not have");
  fields.add("table", std::to_string(numbers[lanes.table]));
  trace_words::visit_place(lanes, fields);
}

std::string registers_of(std::uint64_t bits) {
  std::string text;
  for (; bits != 0; bits &= bits - 1) {
    text += (text.empty() ? "r" : ",r") + std::to_string(std::countr_zero(bits));
  }
  return text;
}

void write_operand(const Form& form, const Instruction& instruction, std::string& text) {
  if (form.operand == Operand::none) return;
  text += ' ';
  if (form.operand != Operand::result) {
    text += std::to_string(instruction.id);
    return;
  }
  if (std::popcount(instruction.writes) != 1) throw TraceError("an instruction without a result");
  text += registers_of(instruction.writes);
}

std::string instruction_text(const Instruction& instruction, const Tables& tables,
                             const std::vector<std::uint32_t>& numbers) {
  const auto* const form =
      std::find_if(trace_words::forms.begin(), trace_words::forms.end(),
                   [&](const Form& each) { return each.operation == instruction.operation; });
  std::string text(form->word);
  write_operand(*form, instruction, text);
  FieldWriter fields(text);
  const bool is_copy =
      instruction.operation == Operation::copy_in || instruction.operation == Operation::copy_out;
  if (is_copy) fields.add("size", std::to_string(instruction.count));
  if (form->has_address) write_address(instruction.lanes, tables, numbers, text);
  if (trace_words::may_need_copy(instruction.operation) && instruction.id != 0) {
    fields.add("copy", std::to_string(instruction.id));
  }
  const bool needs_all = instruction.reads == ~std::uint64_t{0};
  if (instruction.reads != 0 && !(instruction.operation == Operation::release && needs_all)) {
    fields.add("needs", registers_of(instruction.reads));
  }
  for (const auto& [is_set, word] :
       {std::pair{instruction.skips_l1, trace_words::skips_l1},
        {instruction.is_mapped, trace_words::mapped},
        {instruction.is_written_elsewhere, trace_words::written_elsewhere}}) {
    if (is_set) (text += ' ') += word;
  }
  return text;
}

/// A program's text in the making, indented by its loops.
class ProgramWriter {
 public:
  ProgramWriter(const Program& program, const Tables& tables,
                const std::vector<std::uint32_t>& numbers)
      : program_(program), tables_(tables), numbers_(numbers) {
    for (std::size_t place = program.size(); place-- > 0;) {
      if (program[place].operation == Operation::repeat) loops_.push_back(place);
    }
  }

  std::string write(std::size_t number) {
    add("program " + std::to_string(number));
    for (std::size_t place = 0; place < program_.size(); ++place) {
      for (const std::size_t each : loops_) {
        if (program_[each].target == place) open(each);
      }
      if (program_[place].operation == Operation::repeat) {
        close(place);
      } else {
        add(instruction_text(program_[place], tables_, numbers_));
      }
    }
    return std::move(text_);
  }

 private:
  void open(std::size_t end) {
    add(std::string(trace_words::loop) + ' ' + std::to_string(program_[end].count));
    open_.push_back(end);
  }

  void close(std::size_t place) {
    if (open_.empty() || open_.back() != place) throw TraceError("loops that overlap");
    open_.pop_back();
    add(trace_words::end);
  }

  void add(std::string_view line) {
    if (!text_.empty()) text_.append(2 * (open_.size() + 1), ' ');
    (text_ += line) += '\n';
  }

  const Program& program_;
  const Tables& tables_;
  const std::vector<std::uint32_t>& numbers_;
  std::vector<std::size_t> loops_{};  ///< by their ends, the last first: outer ones before inner
  std::vector<std::size_t> open_{};   ///< likewise, those that are written now
  std::string text_{};
};

}  // namespace

std::string header_text(std::string_view kernel, GroupsOf groups_of) {
  std::string text(trace_words::first_line);
  ((text += "\nkernel ") += kernel) += '\n';
  text += groups_of == GroupsOf::unit ? "groups unit\n" : "groups launch\n";
  return text;
}

std::string program_text(const Program& program, std::size_t number, const Tables& tables,
                         const std::vector<std::uint32_t>& numbers) {
  return ProgramWriter(program, tables, numbers).write(number);
}

std::string group_text(const Group& group) {
  std::string text = "group";
  if (group.local_bytes != 0) {
    FieldWriter(text).add("local", std::to_string(group.local_bytes));
  }
  text += '\n';
  for (std::size_t i = 0; i < group.warps.size();) {
    const WarpWork& first = group.warps[i];
    std::size_t count = 1;
    while (i + count < group.warps.size()) {
      const WarpWork& next = group.warps[i + count];
      const bool goes_on = next.program == first.program && next.lanes == first.lanes &&
                           next.number == first.number + count;
      if (!goes_on) break;
      ++count;
    }
    text += "  warp";
    FieldWriter fields(text);
    fields.add("program", std::to_string(first.program));
    fields.add("lanes", std::to_string(first.lanes));
    fields.add("number", std::to_string(first.number));
    if (count > 1) fields.add("count", std::to_string(count));
    text += '\n';
    i += count;
  }
  return text;
}

}  // namespace clprobe::simulator
