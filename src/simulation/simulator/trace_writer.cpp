// SPDX-License-Identifier: Apache-2.0
// The text form of programs and groups. This file is also a part of the Oclgrind plugin
// (src/simulation/oclgrind), so the file uses only the standard library.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "simulation/simulator/trace_fields.hpp"

namespace clprobe::simulator {
namespace {

using Tables = std::vector<std::vector<std::uint64_t>>;

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string registers_of(std::uint64_t bits) {
  std::string text;
  for (; bits != 0; bits &= bits - 1) {
    text += (text.empty() ? "r" : ",r") + std::to_string(std::countr_zero(bits));
  }
  return text;
}

void add_field(std::string_view name, std::string_view value, std::string& text) {
  (((text += ' ') += name) += '=') += value;
}

/// Writes the fields of an instruction, except optional fields with default values.
class FieldWriter {
 public:
  FieldWriter(const Tables& tables, const std::vector<std::uint32_t>& numbers, std::string& text)
      : tables_(tables), numbers_(numbers), text_(text) {}

  void result(std::uint64_t bits) {
    if (std::popcount(bits) != 1) throw TraceError("an instruction without a result");
    (text_ += ' ') += registers_of(bits);
  }
  void lock(std::uint32_t id) { (text_ += ' ') += std::to_string(id); }
  void number(std::string_view /*what*/, std::uint32_t id) { lock(id); }
  void needed(std::string_view name, std::uint64_t value, std::uint64_t /*least*/,
              std::uint64_t /*most*/) {
    add_field(name, std::to_string(value), text_);
  }
  void address(std::string_view name, std::uint64_t value) {
    if (value != 0) add_field(name, hexadecimal(value), text_);
  }
  void step(std::string_view name, std::int64_t value) {
    if (value != 0) add_field(name, std::to_string(value), text_);
  }
  void count(std::string_view name, std::uint32_t value, std::uint32_t usual,
             std::uint64_t /*least*/, std::uint64_t /*most*/) {
    if (value != usual) add_field(name, std::to_string(value), text_);
  }
  void registers(std::string_view name, std::uint64_t bits, std::uint64_t usual) {
    if (bits != usual) add_field(name, registers_of(bits), text_);
  }
  void flag(std::string_view name, bool is_set) {
    if (is_set) (text_ += ' ') += name;
  }
  void lanes(Lanes lanes) {
    const bool is_list = trace_words::is_list(lanes, tables_);
    if (is_list) lanes.active = 0;  // the reader derives this number from the number of addresses
    trace_words::visit_address(std::as_const(lanes), *this);
    if (is_list) return add_field("addresses", addresses_of(tables_[lanes.table]), text_);
    if (lanes.table == Lanes::no_table) return;
    if (lanes.table >= numbers_.size()) {
      throw TraceError("an access names a table of addresses that is not in the trace");
    }
    add_field("table", std::to_string(numbers_[lanes.table]), text_);
    trace_words::visit_place(std::as_const(lanes), *this);
  }

 private:
  static std::string addresses_of(const std::vector<std::uint64_t>& list) {
    std::string text;
    for (const std::uint64_t each : list) {
      if (!text.empty()) text += ',';
      text += hexadecimal(each);
    }
    return text;
  }

  const Tables& tables_;
  const std::vector<std::uint32_t>& numbers_;
  std::string& text_;
};

/// Writes the text of a program. Loops are indented.
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
        add(text_of(program_[place]));
      }
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string text_of(const Instruction& instruction) const {
    const auto* const form =
        std::find_if(trace_words::forms.begin(), trace_words::forms.end(),
                     [&](const auto& each) { return each.operation == instruction.operation; });
    std::string text(form->word);
    FieldWriter fields(tables_, numbers_, text);
    trace_words::visit_instruction(*form, instruction, fields);
    return text;
  }

  void open(std::size_t end) {
    add(std::string(trace_words::loop) + ' ' + std::to_string(program_[end].count));
    open_.push_back(end);
  }

  void close(std::size_t place) {
    if (open_.empty() || open_.back() != place) throw TraceError("the program's loops overlap");
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
  /// The ends of all loops in reverse order, so that outer loops precede inner loops.
  std::vector<std::size_t> loops_{};
  std::vector<std::size_t> open_{};  ///< the ends of the open loops, outer loops first
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
  if (group.local_bytes != 0) add_field("local", std::to_string(group.local_bytes), text);
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
    add_field("program", std::to_string(first.program), text);
    add_field("lanes", std::to_string(first.lanes), text);
    add_field("number", std::to_string(first.number), text);
    if (count > 1) add_field("count", std::to_string(count), text);
    text += '\n';
    i += count;
  }
  return text;
}

}  // namespace clprobe::simulator
