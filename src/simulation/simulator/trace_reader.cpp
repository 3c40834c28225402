// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "simulation/simulator/trace_fields.hpp"

namespace clprobe::simulator {
namespace {

constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();

// Limits far above the needs of usual kernels. The simulation of 100 million warp instructions
// takes minutes. Programs with 2 million instructions take about 300 MB of memory.
constexpr std::uint64_t max_instructions = 1U << 21U;
constexpr std::uint64_t max_executed = 100'000'000;
constexpr std::uint64_t max_warps = 1U << 20U;
constexpr std::uint64_t max_locks = 1U << 16U;
constexpr std::uint64_t max_loops = 16;  // maximum depth of nested loops
constexpr std::uint64_t max_resident_bytes = std::uint64_t{1} << 28U;
constexpr std::uint64_t max_held_cycles = 1U << 24U;
constexpr std::uint64_t max_tables = 1U << 21U;
// Maximum number of entries of all tables and lists, which take 128 MiB.
constexpr std::uint64_t max_entries = 1U << 24U;
constexpr std::size_t max_name = 64;

/// Returns a word of the file as text for a message: ASCII only, and truncated after 40 characters.
std::string shown(std::string_view word) {
  constexpr std::size_t max_letters = 40;
  std::string text = "'";
  for (const char letter : word.substr(0, max_letters)) {
    text += letter > ' ' && letter <= '~' ? letter : '?';
  }
  return text + (word.size() > max_letters ? "...'" : "'");
}

/// Returns the value of "0x1000" or "4096" if it is from `least` to `most`, both inclusive. Returns
/// nothing for other values and other text.
std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t least,
                                          std::uint64_t most) {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, number, is_hexadecimal ? 16 : 10);
  if (error != std::errc{} || rest != last || number < least || number > most) return std::nullopt;
  return number;
}

std::vector<std::string_view> comma_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

/// Returns true for a name of 1 to 64 ASCII letters, digits and characters of _.+-
bool is_kernel_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name &&
         std::all_of(name.begin(), name.end(), [](char letter) {
           return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                  (letter >= '0' && letter <= '9') ||
                  std::string_view("_.+-").find(letter) != std::string_view::npos;
         });
}

/// A line of a trace: its words and its fields "name=value". Each word and field is taken once, and
/// a remaining word or field is an error.
class TraceLine {
 public:
  TraceLine(std::string_view text, std::size_t number) : number_(number) {
    constexpr std::string_view blanks = " \t\r";
    text = text.substr(0, text.find('#'));
    for (std::size_t at = text.find_first_not_of(blanks); at < text.size();
         at = text.find_first_not_of(blanks, at)) {
      const std::string_view word = text.substr(at, text.find_first_of(blanks, at) - at);
      at += word.size();
      if (kind_.empty()) {
        kind_ = word;
      } else if (word.find('=') == std::string_view::npos) {
        words_.push_back(word);
      } else {
        fields_.push_back(word);
      }
    }
  }

  /// Throws TraceFileError with the line's number and the problem.
  [[noreturn]] void refuse(const std::string& problem) const {
    throw TraceFileError(fmt::format("line {}: {}", number_, problem));
  }

  /// Returns the first word, which determines the kind of line; empty for an empty line.
  [[nodiscard]] std::string_view kind() const { return kind_; }
  [[nodiscard]] bool has_word() const { return next_ < words_.size(); }

  /// Returns the next word. `what`: description of the expected word, such as "a register, r0 to
  /// r63".
  std::string_view take_word(std::string_view what) {
    if (!has_word()) refuse(fmt::format("expected {} after '{}'", what, kind()));
    return words_[next_++];
  }
  std::uint64_t take_number(std::string_view what, std::uint64_t least, std::uint64_t most) {
    const std::string_view word = take_word(what);
    if (const auto number = whole_number(word, least, most)) return *number;
    refuse(fmt::format("expected {} from {} to {}, found {}", what, least, most, shown(word)));
  }
  /// Reads the next word, which must be `first` or `second`. Returns true if it is `first`.
  bool take_choice(std::string_view first, std::string_view second) {
    const std::string what = fmt::format("{} or {}", first, second);
    const std::string_view word = take_word(what);
    if (word != first && word != second) {
      refuse(fmt::format("expected {}, found {}", what, shown(word)));
    }
    return word == first;
  }
  /// Removes the word `name` ("skips_l1") from the words not taken yet. Returns true if it was
  /// present.
  bool take_flag(std::string_view name) {
    const auto found =
        std::find(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end(), name);
    if (found == words_.end()) return false;
    words_.erase(found);
    return true;
  }
  std::optional<std::string_view> take_field(std::string_view name) {
    const auto is_it = [name](std::string_view field) {
      return field.substr(0, field.find('=')) == name;
    };
    const auto found = std::find_if(fields_.begin(), fields_.end(), is_it);
    if (found == fields_.end()) return std::nullopt;
    if (std::any_of(found + 1, fields_.end(), is_it)) {
      refuse(fmt::format("{}= is given twice: leave one out", name));
    }
    const std::string_view value = found->substr(name.size() + 1);
    fields_.erase(found);
    return value;
  }
  std::uint64_t need_number(std::string_view name, std::uint64_t least, std::uint64_t most) {
    if (const auto value = take_field(name)) return number_in(name, *value, least, most);
    refuse(fmt::format("expected {}= after '{}'", name, kind()));
  }
  std::uint64_t number_or(std::string_view name, std::uint64_t usual, std::uint64_t least,
                          std::uint64_t most) {
    const auto value = take_field(name);
    return value ? number_in(name, *value, least, most) : usual;
  }
  [[nodiscard]] std::uint64_t number_in(std::string_view name, std::string_view value,
                                        std::uint64_t least, std::uint64_t most) const {
    if (const auto number = whole_number(value, least, most)) return *number;
    const bool is_any = least == 0 && most == any_number;
    refuse(fmt::format("{}= expects a whole number{}, found {}", name,
                       is_any ? "" : fmt::format(" from {} to {}", least, most), shown(value)));
  }
  /// Throws TraceFileError if a word or a field was not taken.
  void end() const {
    if (!has_word() && fields_.empty()) return;
    refuse(fmt::format("{} is not allowed after {}",
                       shown(has_word() ? words_[next_] : fields_.front()), shown(kind())));
  }

 private:
  std::size_t number_;
  std::string_view kind_{};
  std::vector<std::string_view> words_{};
  std::vector<std::string_view> fields_{};
  /// Index of the next word. With an index, a line of millions of words takes linear time.
  std::size_t next_{0};
};

/// Reads the fields of an instruction from a line.
class FieldReader {
 public:
  /// Appends lists of addresses to the tables of `trace`. `named`: index in `trace` for each table
  /// of the file. `entries`: number of entries of all tables and lists so far.
  FieldReader(TraceLine& line, Trace& trace, const std::vector<std::uint32_t>& named,
              std::uint64_t& entries)
      : line_(line), trace_(trace), named_(named), entries_(entries) {}

  void result(std::uint64_t& bits) { bits = bit_of(line_.take_word(register_words)); }
  void lock(std::uint32_t& id) {
    if (trace_.locks.empty()) line_.refuse("expected a 'lock' line before the first program");
    id = static_cast<std::uint32_t>(line_.take_number("a lock", 0, trace_.locks.size() - 1));
  }
  void number(std::string_view what, std::uint32_t& id) {
    id = static_cast<std::uint32_t>(line_.take_number(what, 0, trace_words::max_id));
  }
  void needed(std::string_view name, std::uint64_t& value, std::uint64_t least,
              std::uint64_t most) {
    value = line_.need_number(name, least, most);
  }
  void address(std::string_view name, std::uint64_t& value) {
    value = line_.number_or(name, 0, 0, any_number);
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
  void count(std::string_view name, std::uint32_t& value, std::uint32_t usual, std::uint64_t least,
             std::uint64_t most) {
    value = static_cast<std::uint32_t>(line_.number_or(name, usual, least, most));
  }
  void registers(std::string_view name, std::uint64_t& bits, std::uint64_t usual) {
    const auto list = line_.take_field(name);
    bits = list ? 0 : usual;
    if (!list) return;
    for (const std::string_view each : comma_parts(*list)) bits |= bit_of(each);
  }
  void flag(std::string_view name, bool& is_set) { is_set = line_.take_flag(name); }
  void lanes(Lanes& lanes) {
    trace_words::visit_address(lanes, *this);
    const auto addresses = line_.take_field("addresses");
    const auto mask = line_.take_field("mask");
    const auto table = line_.take_field("table");
    if (int{addresses.has_value()} + int{mask.has_value()} + int{table.has_value()} > 1) {
      line_.refuse("addresses=, mask= and table= cannot be combined: choose one");
    }
    if ((addresses || mask) && lanes.active != 0) {
      line_.refuse("addresses= and mask= define the active lanes: leave out active=");
    }
    if (addresses) return set_list(lanes, addresses_in(*addresses));
    if (mask) return set_mask(lanes, *mask);
    if (!table) return;
    lanes.table = named_table(*table);
    trace_words::visit_place(lanes, *this);
  }
  /// Returns the index in the trace for a table's number in the file.
  [[nodiscard]] std::uint32_t named_table(std::string_view text) const {
    if (named_.empty()) line_.refuse("expected a 'table' line before this line");
    return named_[line_.number_in("table", text, 0, named_.size() - 1)];
  }
  void count_entries(std::size_t more) {
    entries_ += more;
    if (entries_ > max_entries || trace_.tables.size() >= max_tables) {
      line_.refuse(fmt::format("more than {} addresses in tables and lists", max_entries));
    }
  }

 private:
  static constexpr std::string_view register_words = "a register, r0 to r63";

  [[nodiscard]] std::uint64_t bit_of(std::string_view word) const {
    const auto number =
        word.starts_with('r') ? whole_number(word.substr(1), 0, register_count - 1U) : std::nullopt;
    if (!number) line_.refuse(fmt::format("expected {}, found {}", register_words, shown(word)));
    return std::uint64_t{1} << *number;
  }
  [[nodiscard]] std::vector<std::uint64_t> addresses_in(std::string_view text) const {
    std::vector<std::uint64_t> found;
    for (const std::string_view each : comma_parts(text)) {
      found.push_back(line_.number_in("addresses", each, 0, any_number));
    }
    if (found.size() > trace_words::max_lanes) line_.refuse("more than 64 addresses");
    return found;
  }
  void set_list(Lanes& lanes, std::vector<std::uint64_t> addresses) {
    count_entries(addresses.size());
    lanes.active = static_cast<std::uint32_t>(addresses.size());
    lanes.table = static_cast<std::uint32_t>(trace_.tables.size());
    lanes.table_lane = 1;
    trace_.tables.push_back(std::move(addresses));
  }
  /// Sets the active lanes of a mask. A mask other than the first lanes becomes a list of the
  /// lanes' distances from `at`.
  void set_mask(Lanes& lanes, std::string_view text) {
    std::uint64_t bits = line_.number_in("mask", text, 1, any_number);
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
    set_list(lanes, std::move(distances));
  }

  TraceLine& line_;
  Trace& trace_;
  const std::vector<std::uint32_t>& named_;
  std::uint64_t& entries_;
};

class TraceReader {
 public:
  explicit TraceReader(std::string_view text) : rest_(text) {}

  TraceFile read() {
    read_first_line();
    while (!rest_.empty()) {
      TraceLine line = next();
      if (line.kind().empty()) continue;
      read_line(line);
      line.end();
    }
    const TraceLine last("", line_number_);
    close_blocks(last);
    if (trace_.groups.empty()) {
      last.refuse("expected a group of warps before the end of the file");
    }
    return std::move(file_);
  }

 private:
  /// An open loop: "repeat 8" and the instructions after it.
  struct Loop {
    std::uint32_t first{0};
    std::uint64_t times{1};
    std::uint64_t times_in_all{1};  ///< product of `times` of this loop and all enclosing loops
  };

  TraceLine next() {
    const std::size_t size = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, size);
    rest_.remove_prefix(std::min(size + 1, rest_.size()));
    return {line, ++line_number_};
  }

  void read_first_line() {
    TraceLine line = next();
    if (line.kind() != "clprobe-trace") {
      line.refuse("the first line of a trace must be 'clprobe-trace 1'");
    }
    constexpr std::uint64_t version = 1;
    line.take_number("a version number", version, version);
    line.end();
  }

  void read_line(TraceLine& line) {
    struct Row {
      std::string_view word;
      void (TraceReader::*read)(TraceLine&);
    };
    static constexpr std::array rows{
        Row{"kernel", &TraceReader::read_kernel},     Row{"groups", &TraceReader::read_groups_of},
        Row{"table", &TraceReader::read_table},       Row{"lock", &TraceReader::read_lock},
        Row{"resident", &TraceReader::read_resident}, Row{"program", &TraceReader::read_program},
        Row{"group", &TraceReader::read_group},       Row{"warp", &TraceReader::read_warp}};
    const auto* const row = std::find_if(rows.begin(), rows.end(),
                                         [&](const Row& each) { return each.word == line.kind(); });
    if (row == rows.end()) return read_in_program(line);
    if (line.kind() != "warp") close_blocks(line);
    (this->*row->read)(line);
  }

  /// Ends the open program or group. Refuses the line if the program or group is incomplete.
  void close_blocks(const TraceLine& line) {
    if (!loops_.empty()) line.refuse("expected 'end' before this line: a repeat is open");
    if (is_in_program_ && program().empty()) line.refuse("expected instructions before this line");
    is_in_program_ = false;
    if (is_in_group_ && trace_.groups.back().warps.empty()) {
      line.refuse("expected a warp in the group before this line");
    }
    is_in_group_ = false;
  }

  void read_kernel(TraceLine& line) {
    const std::string_view name = line.take_word("a name");
    if (!is_kernel_name(name)) {
      line.refuse(fmt::format(
          "expected a name of at most {} letters, digits, '_', '.', '+' and '-', found {}",
          max_name, shown(name)));
    }
    file_.kernel = name;
  }

  void read_groups_of(TraceLine& line) {
    file_.groups_of = line.take_choice("unit", "launch") ? GroupsOf::unit : GroupsOf::launch;
  }

  /// Reads "table 0 0x1000 0x2000". Adds a new table, or adds entries to the last table.
  void read_table(TraceLine& line) {
    const auto number = line.take_number("a table's number", 0, max_tables);
    if (number > tables_.size()) {
      line.refuse(fmt::format("expected {} as the number of the next table", tables_.size()));
    }
    if (number == tables_.size()) {
      tables_.push_back(static_cast<std::uint32_t>(trace_.tables.size()));
      trace_.tables.emplace_back();
    }
    std::vector<std::uint64_t>& table = trace_.tables[tables_[number]];
    FieldReader fields = fields_in(line);
    do {
      table.push_back(line.take_number("an address", 0, any_number));
      fields.count_entries(1);
    } while (line.has_word());
  }

  void read_lock(TraceLine& line) {
    if (trace_.locks.size() >= max_locks) {
      line.refuse(fmt::format("more than {} locks", max_locks));
    }
    Lock lock{.address = line.need_number("at", 0, any_number)};
    if (const auto held = line.take_field("held")) {
      const std::size_t dash = held->find('-');
      const auto low = whole_number(held->substr(0, dash), 0, max_held_cycles);
      const auto high =
          dash == std::string_view::npos
              ? low
              : whole_number(held->substr(dash + 1), low.value_or(0), max_held_cycles);
      if (!low || !high) {
        line.refuse(fmt::format("held= expects a number of cycles or LOW-HIGH, up to {}, found {}",
                                max_held_cycles, shown(*held)));
      }
      lock.held_elsewhere = {*low, *high};
    }
    trace_.locks.push_back(lock);
  }

  void read_resident(TraceLine& line) {
    Resident resident{.home =
                          line.take_choice("l1", "l2") ? Resident::Home::l1 : Resident::Home::l2};
    resident.base = line.number_or("at", 0, 0, any_number);
    if (const auto table = line.take_field("table")) {
      resident.table = fields_in(line).named_table(*table);
      resident.first = line.number_or("first", 0, 0, max_entries);
      resident.count = line.need_number("count", 1, max_entries);
    } else {
      resident.bytes = line.need_number("bytes", 1, max_resident_bytes);
    }
    resident_bytes_ += resident.count + resident.bytes;
    if (resident_bytes_ > max_resident_bytes) {
      line.refuse(fmt::format("more than {} resident bytes in total", max_resident_bytes));
    }
    trace_.resident.push_back(resident);
  }

  void read_program(TraceLine& line) {
    const auto number = line.take_number("the program's number", 0, max_instructions);
    if (number != trace_.programs.size()) {
      line.refuse(
          fmt::format("expected {} as the number of the next program", trace_.programs.size()));
    }
    trace_.programs.emplace_back();
    executed_.push_back(0);
    is_in_program_ = true;
  }

  void read_group(TraceLine& line) {
    trace_.groups.emplace_back().local_bytes =
        line.number_or("local", 0, 0, trace_words::max_copy_bytes);
    is_in_group_ = true;
  }

  void read_warp(TraceLine& line) {
    if (!is_in_group_) line.refuse("a warp belongs to a group: write 'group' before this line");
    if (trace_.programs.empty()) line.refuse("expected a program before this line");
    const auto program = line.need_number("program", 0, trace_.programs.size() - 1);
    const auto lanes = line.need_number("lanes", 1, trace_words::max_lanes);
    const auto number = line.number_or("number", next_warp_, 0, max_warps);
    const auto count = line.number_or("count", 1, 1, max_warps);
    executed_in_all_ += count * executed_[program];  // both bounded: at most 47 bits
    if (executed_in_all_ > max_executed) {
      line.refuse(fmt::format(
          "more than {} warp instructions in total: trace fewer groups, or a smaller problem",
          max_executed));
    }
    warps_ += count;
    if (warps_ > max_warps) line.refuse(fmt::format("more than {} warps in total", max_warps));
    for (std::uint64_t i = 0; i < count; ++i) {
      trace_.groups.back().warps.push_back({.program = static_cast<std::uint32_t>(program),
                                            .lanes = static_cast<std::uint32_t>(lanes),
                                            .number = static_cast<std::uint32_t>(number + i)});
    }
    next_warp_ = number + count;
  }

  void read_in_program(TraceLine& line) {
    const bool is_loop = line.kind() == trace_words::loop;
    const bool is_end = line.kind() == trace_words::end;
    const auto* const form =
        std::find_if(trace_words::forms.begin(), trace_words::forms.end(),
                     [&](const auto& each) { return each.word == line.kind(); });
    if (!is_loop && !is_end && form == trace_words::forms.end()) {
      line.refuse(fmt::format("a line of a trace cannot begin with {}", shown(line.kind())));
    }
    if (!is_in_program_) {
      line.refuse(fmt::format("'{}' belongs to a program: write 'program {}' before it",
                              line.kind(), trace_.programs.size()));
    }
    if (is_loop) return open_loop(line);
    if (is_end) return close_loop(line);
    executed_.back() += times_in_all();
    if (executed_.back() > max_executed) {
      line.refuse(fmt::format("the program executes more than {} instructions", max_executed));
    }
    Instruction instruction{.operation = form->operation};
    FieldReader fields = fields_in(line);
    trace_words::visit_instruction(*form, instruction, fields);
    add(line, instruction);
  }

  void open_loop(TraceLine& line) {
    const auto times = line.take_number("a repeat count", 1, max_executed);
    if (loops_.size() >= max_loops) {
      line.refuse(fmt::format("more than {} nested loops", max_loops));
    }
    // No overflow: both factors are below 2^27.
    const std::uint64_t in_all = times_in_all() * times;
    if (in_all > max_executed) {
      line.refuse(fmt::format("more than {} loop iterations in total", max_executed));
    }
    loops_.push_back({static_cast<std::uint32_t>(program().size()), times, in_all});
  }

  void close_loop(TraceLine& line) {
    if (loops_.empty()) line.refuse("'end' without a repeat");
    const Loop loop = loops_.back();
    if (loop.first == program().size()) {
      line.refuse("expected instructions between 'repeat' and 'end'");
    }
    loops_.pop_back();
    add(line, repeat(loop.first, loop.times));
  }

  void add(const TraceLine& line, const Instruction& instruction) {
    if (++count_ > max_instructions) {
      line.refuse(
          fmt::format("more than {} instructions in all programs: trace fewer groups, or "
                      "write loops with 'repeat'",
                      max_instructions));
    }
    program().push_back(instruction);
  }

  Program& program() { return trace_.programs.back(); }
  FieldReader fields_in(TraceLine& line) { return {line, trace_, tables_, entries_}; }
  [[nodiscard]] std::uint64_t times_in_all() const {
    return loops_.empty() ? 1 : loops_.back().times_in_all;
  }

  std::string_view rest_;
  std::size_t line_number_{0};
  TraceFile file_{};
  Trace& trace_{file_.trace};
  std::vector<std::uint32_t> tables_{};  ///< index in the trace, by the table's number in the file
  bool is_in_program_{false};
  bool is_in_group_{false};
  std::vector<Loop> loops_{};  ///< loops that are open
  /// Number of instructions that a warp executes, by program.
  std::vector<std::uint64_t> executed_{};
  std::uint64_t entries_{0};  ///< entries of all tables and lists
  std::uint64_t executed_in_all_{0};
  std::uint64_t count_{0};  ///< instructions of all programs
  std::uint64_t resident_bytes_{0};
  std::uint64_t warps_{0};
  std::uint64_t next_warp_{0};
};

}  // namespace

TraceFile read_trace_file(std::string_view text) { return TraceReader(text).read(); }

}  // namespace clprobe::simulator
