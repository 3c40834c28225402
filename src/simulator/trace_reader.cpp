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

#include "clprobe/trace.hpp"
#include "clprobe/trace_file.hpp"
#include "simulator/trace_fields.hpp"

namespace clprobe::simulator {
namespace {

using trace_words::Form;
using trace_words::Operand;

constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();

/// A word of the file in a message: in ASCII, cut where it is long.
std::string shown(std::string_view word) {
  constexpr std::size_t max_letters = 40;
  std::string text = "'";
  for (const char letter : word.substr(0, max_letters)) {
    text += letter > ' ' && letter <= '~' ? letter : '?';
  }
  return text + (word.size() > max_letters ? "...'" : "'");
}

/// "0x1000" or "4096", from `least` to `most`; nothing for all else.
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

/// A line's words, each taken once; what is left over is a mistake.
class TraceLine {
 public:
  /// Of the file's text without its end, and its number in it.
  TraceLine(std::string_view text, std::size_t number) : number_(number) {
    constexpr std::string_view blanks = " \t\r";
    text = text.substr(0, text.find('#'));
    for (std::size_t at = 0;;) {
      at = text.find_first_not_of(blanks, at);
      if (at == std::string_view::npos) break;
      const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
      words_.push_back(text.substr(at, end - at));
      at = end;
    }
    is_taken_.resize(words_.size());
    if (!is_taken_.empty()) is_taken_[0] = true;
  }

  /// Throws TraceFileError with the line's number.
  [[noreturn]] void refuse(const std::string& problem) const {
    throw TraceFileError(fmt::format("line {}: {}", number_, problem));
  }

  [[nodiscard]] bool is_empty() const { return words_.empty(); }
  /// The first word, which says what the line is.
  [[nodiscard]] std::string_view kind() const { return words_.front(); }

  /// The next word that is no field. `what` it should be: "a register, r0 to r63".
  std::string_view take_word(std::string_view what) {
    if (!has_word()) refuse(fmt::format("expected {} after '{}'", what, kind()));
    is_taken_[next_] = true;
    return words_[next_];
  }
  std::uint64_t take_number(std::string_view what, std::uint64_t least, std::uint64_t most) {
    const std::string_view word = take_word(what);
    if (const auto number = whole_number(word, least, most)) return *number;
    refuse(fmt::format("expected {} from {} to {}, found {}", what, least, most, shown(word)));
  }
  /// Whether there is one.
  bool has_word() {
    while (next_ < words_.size() &&
           (is_taken_[next_] || words_[next_].find('=') != std::string_view::npos)) {
      ++next_;
    }
    return next_ < words_.size();
  }
  /// Whether this word stands there: "skips_l1".
  bool take_flag(std::string_view name) {
    const auto found = std::find(words_.begin(), words_.end(), name);
    if (found == words_.end()) return false;
    is_taken_[static_cast<std::size_t>(found - words_.begin())] = true;
    return true;
  }
  /// What stands behind "name=".
  std::optional<std::string_view> take_field(std::string_view name) {
    std::optional<std::string_view> value;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string_view word = words_[i];
      const bool is_it =
          word.size() > name.size() && word[name.size()] == '=' && word.starts_with(name);
      if (!is_it || is_taken_[i]) continue;
      if (value) refuse(fmt::format("{}= is given twice: leave one out", name));
      is_taken_[i] = true;
      value = word.substr(name.size() + 1);
    }
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
  std::uint64_t number_in(std::string_view name, std::string_view value, std::uint64_t least,
                          std::uint64_t most) const {
    if (const auto number = whole_number(value, least, most)) return *number;
    if (least == 0 && most == any_number) {
      refuse(fmt::format("{}= expects a whole number, found {}", name, shown(value)));
    }
    refuse(fmt::format("{}= expects a whole number from {} to {}, found {}", name, least, most,
                       shown(value)));
  }
  // What visits the fields of an address.
  void address(std::string_view name, std::uint64_t& value) {
    value = number_or(name, value, 0, any_number);
  }
  void step(std::string_view name, std::int64_t& value) {
    const auto text = take_field(name);
    if (!text) return;
    const bool is_negative = text->starts_with('-');
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto size = whole_number(text->substr(is_negative ? 1 : 0), 0, most);
    if (!size) refuse(fmt::format("{}= expects a whole number, found {}", name, shown(*text)));
    value = is_negative ? -static_cast<std::int64_t>(*size) : static_cast<std::int64_t>(*size);
  }
  void count(std::string_view name, std::uint32_t& value, std::uint64_t least, std::uint64_t most) {
    value = static_cast<std::uint32_t>(number_or(name, value, least, most));
  }
  /// Throws where something was not taken.
  void end() const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (is_taken_[i]) continue;
      refuse(fmt::format("{} is not allowed after {}", shown(words_[i]), shown(kind())));
    }
  }

 private:
  std::size_t number_;
  std::vector<std::string_view> words_{};
  std::vector<bool> is_taken_{};
  /// Before it is no word to take. A hostile line has millions of words: none is passed twice.
  std::size_t next_{0};
};

/// The parts of a comma list.
std::vector<std::string_view> comma_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

constexpr std::uint64_t max_tables = 1U << 21U;

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

class InstructionReader {
 public:
  /// Addresses in tables and lists together: 128 MiB.
  static constexpr std::uint64_t max_entries = 1U << 24U;
  /// Far more than local memories have.
  static constexpr std::uint64_t max_copy_bytes = 1U << 24U;

  /// Appends to the tables of `trace`, which must outlive it.
  explicit InstructionReader(Trace& trace) : trace_(trace) {}

  /// "table 0 0x1000 0x2000": a new table, or more of one.
  void read_table(TraceLine& line) {
    const auto number = line.take_number("a table's number", 0, max_tables);
    if (number > named_.size()) {
      line.refuse(fmt::format("expected {} as the number of the next table", named_.size()));
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
  /// The place in the trace of the table that has this number in the file.
  [[nodiscard]] std::uint32_t named_table(const TraceLine& line, std::string_view text) const {
    if (named_.empty()) line.refuse("expected a table before this line");
    return named_[line.number_in("table", text, 0, named_.size() - 1)];
  }
  Instruction read(TraceLine& line, const Form& form) {
    Instruction instruction{.operation = form.operation};
    read_operand(line, form, instruction);
    if (form.operation == Operation::copy_in || form.operation == Operation::copy_out) {
      instruction.count = line.need_number("size", 1, max_copy_bytes);
    }
    if (form.has_address) read_address(line, instruction.lanes);
    if (trace_words::may_need_copy(form.operation)) {
      line.count("copy", instruction.id, 1, trace_words::max_id);
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

 private:
  void read_operand(TraceLine& line, const Form& form, Instruction& instruction) const {
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
        if (trace_.locks.empty()) line.refuse("expected a lock before the programs");
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
  void read_address(TraceLine& line, Lanes& lanes) {
    trace_words::visit_address(lanes, line);
    const auto addresses = line.take_field("addresses");
    const auto mask = line.take_field("mask");
    const auto table = line.take_field("table");
    if (int{addresses.has_value()} + int{mask.has_value()} + int{table.has_value()} > 1) {
      line.refuse("addresses=, mask= and table= exclude each other");
    }
    if ((addresses || mask) && lanes.active != 0) {
      line.refuse("addresses= and mask= define the active lanes: leave out active=");
    }
    if (addresses) return set_list(line, lanes, addresses_in(line, *addresses));
    if (mask) return set_mask(line, lanes, *mask);
    if (!table) return;
    lanes.table = named_table(line, *table);
    trace_words::visit_place(lanes, line);
  }
  void set_list(const TraceLine& line, Lanes& lanes, std::vector<std::uint64_t> addresses) {
    count_entries(line, addresses.size());
    lanes.active = static_cast<std::uint32_t>(addresses.size());
    lanes.table = static_cast<std::uint32_t>(trace_.tables.size());
    lanes.table_lane = 1;
    trace_.tables.push_back(std::move(addresses));
  }
  /// Lanes of a mask that has holes become a list of their distances from `at`.
  void set_mask(const TraceLine& line, Lanes& lanes, std::string_view text) {
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
  void count_entries(const TraceLine& line, std::size_t more) {
    entries_ += more;
    if (entries_ > max_entries || trace_.tables.size() >= max_tables) {
      line.refuse(fmt::format("more than {} addresses in tables and lists", max_entries));
    }
  }

  Trace& trace_;
  std::vector<std::uint32_t> named_{};  ///< by their numbers: places in the trace
  std::uint64_t entries_{0};
};

// What a kernel of moderate size needs many times over, and a person can still wait for: a hundred
// million warp instructions take minutes, two million in programs some 300 MB.
constexpr std::uint64_t max_instructions = 1U << 21U;
constexpr std::uint64_t max_executed = 100'000'000;
constexpr std::uint64_t max_warps = 1U << 20U;
constexpr std::uint64_t max_locks = 1U << 16U;
constexpr std::uint64_t max_loops = 16;  // within each other
constexpr std::uint64_t max_resident_bytes = std::uint64_t{1} << 28U;
constexpr std::uint64_t max_held_cycles = 1U << 24U;
constexpr std::size_t max_name = 64;

/// A block that is open: "repeat 8" and what follows.
struct Loop {
  std::uint32_t first{0};
  std::uint64_t times{1};
};

class TraceReader {
 public:
  explicit TraceReader(std::string_view text) : rest_(text) {}

  TraceFile read() {
    read_first_line();
    while (!rest_.empty()) {
      TraceLine line = next();
      if (line.is_empty()) continue;
      read_line(line);
      line.end();
    }
    const TraceLine last("", line_number_);
    close_blocks(last);
    if (file_.trace.groups.empty()) {
      last.refuse("expected a group of warps before the end of the file");
    }
    return std::move(file_);
  }

 private:
  TraceLine next() {
    const std::size_t size = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, size);
    rest_.remove_prefix(std::min(size + 1, rest_.size()));
    return {line, ++line_number_};
  }

  void read_first_line() {
    TraceLine line = next();
    const bool is_trace = !line.is_empty() && line.kind() == "clprobe-trace";
    if (!is_trace) line.refuse("not a trace: the first line must be 'clprobe-trace 1'");
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

  /// Programs end where something else begins, groups likewise.
  void close_blocks(const TraceLine& line) {
    if (!loops_.empty()) line.refuse("expected 'end' before this line: a repeat is open");
    if (is_in_program_ && program().empty()) line.refuse("expected instructions before this line");
    if (is_in_program_) executed_.push_back(executed_by_program_);
    is_in_program_ = false;
    if (is_in_group_ && file_.trace.groups.back().warps.empty()) {
      line.refuse("expected a warp in the group before this line");
    }
    is_in_group_ = false;
  }

  void read_kernel(TraceLine& line) {
    const std::string_view name = line.take_word("a name");
    if (!is_kernel_name(name)) {
      line.refuse(fmt::format(
          "expected a name of at most {} letters, digits and characters of _.+-, found {}",
          max_name, shown(name)));
    }
    file_.kernel = name;
  }

  void read_groups_of(TraceLine& line) {
    const std::string_view word = line.take_word("unit or launch");
    if (word != "unit" && word != "launch") {
      line.refuse(fmt::format("expected unit or launch, found {}", shown(word)));
    }
    file_.groups_of = word == "unit" ? GroupsOf::unit : GroupsOf::launch;
  }

  void read_table(TraceLine& line) { instructions_.read_table(line); }
  void read_lock(TraceLine& line) {
    if (file_.trace.locks.size() >= max_locks) line.refuse("more than 65536 locks");
    Lock lock{.address = line.need_number("at", 0, any_number)};
    if (const auto held = line.take_field("held")) {
      const std::size_t dash = std::min(held->find('-'), held->size());
      const auto low = whole_number(held->substr(0, dash), 0, max_held_cycles);
      const auto high = dash == held->size() ? low
                                             : whole_number(held->substr(dash + 1), low.value_or(0),
                                                            max_held_cycles);
      if (!low || !high) {
        line.refuse(fmt::format("held= expects cycles, LOW-HIGH up to {}, found {}",
                                max_held_cycles, shown(*held)));
      }
      lock.held_elsewhere = {*low, *high};
    }
    file_.trace.locks.push_back(lock);
  }

  void read_resident(TraceLine& line) {
    const std::string_view home = line.take_word("l1 or l2");
    if (home != "l1" && home != "l2") {
      line.refuse(fmt::format("expected l1 or l2, found {}", shown(home)));
    }
    Resident resident{.home = home == "l1" ? Resident::Home::l1 : Resident::Home::l2};
    resident.base = line.number_or("at", 0, 0, any_number);
    if (const auto table = line.take_field("table")) {
      resident.table = instructions_.named_table(line, *table);
      resident.first = line.number_or("first", 0, 0, InstructionReader::max_entries);
      resident.count = line.need_number("count", 1, InstructionReader::max_entries);
      resident_bytes_ += resident.count;
    } else {
      resident.bytes = line.need_number("bytes", 1, max_resident_bytes);
      resident_bytes_ += resident.bytes;
    }
    if (resident_bytes_ > max_resident_bytes) {
      line.refuse(fmt::format("more than {} resident bytes in total", max_resident_bytes));
    }
    file_.trace.resident.push_back(resident);
  }

  void read_program(TraceLine& line) {
    const auto number = line.take_number("the program's number", 0, max_instructions);
    if (number != file_.trace.programs.size()) {
      line.refuse(fmt::format("expected {} as the number of the next program",
                              file_.trace.programs.size()));
    }
    file_.trace.programs.emplace_back();
    is_in_program_ = true;
    executed_by_program_ = 0;
  }

  void read_group(TraceLine& line) {
    file_.trace.groups.emplace_back().local_bytes =
        line.number_or("local", 0, 0, InstructionReader::max_copy_bytes);
    is_in_group_ = true;
  }

  void read_warp(TraceLine& line) {
    if (!is_in_group_) line.refuse("a warp belongs to a group: write 'group' before it");
    if (file_.trace.programs.empty()) line.refuse("expected a program before this line");
    const auto program = line.need_number("program", 0, file_.trace.programs.size() - 1);
    const auto lanes = line.need_number("lanes", 1, trace_words::max_lanes);
    const auto number = line.number_or("number", next_warp_, 0, max_warps);
    const auto count = line.number_or("count", 1, 1, max_warps);
    executed_in_all_ += count * executed_[program];  // both bounded: no more than 47 bits
    if (executed_in_all_ > max_executed) {
      line.refuse(fmt::format(
          "more than {} warp instructions in total: trace fewer groups, or a smaller problem",
          max_executed));
    }
    warps_ += count;
    if (warps_ > max_warps) line.refuse(fmt::format("more than {} warps in total", max_warps));
    for (std::uint64_t i = 0; i < count; ++i) {
      file_.trace.groups.back().warps.push_back({.program = static_cast<std::uint32_t>(program),
                                                 .lanes = static_cast<std::uint32_t>(lanes),
                                                 .number = static_cast<std::uint32_t>(number + i)});
    }
    next_warp_ = number + count;
  }

  void read_in_program(TraceLine& line) {
    const bool is_loop = line.kind() == trace_words::loop;
    const auto* const form =
        std::find_if(trace_words::forms.begin(), trace_words::forms.end(),
                     [&](const Form& each) { return each.word == line.kind(); });
    if (!is_loop && line.kind() != trace_words::end && form == trace_words::forms.end()) {
      line.refuse(fmt::format("{} does not begin a line of a trace", shown(line.kind())));
    }
    if (!is_in_program_) {
      line.refuse(fmt::format("'{}' belongs to a program: write 'program {}' before it",
                              line.kind(), file_.trace.programs.size()));
    }
    if (is_loop) return open_loop(line);
    if (line.kind() == trace_words::end) return close_loop(line);
    executed_by_program_ += loops_.empty() ? 1 : loops_.back().times;
    if (executed_by_program_ > max_executed) {
      line.refuse(fmt::format("the program executes more than {} instructions", max_executed));
    }
    add(line, instructions_.read(line, *form));
  }

  void open_loop(TraceLine& line) {
    const auto times = line.take_number("a repeat count", 1, max_executed);
    if (loops_.size() >= max_loops) {
      line.refuse(fmt::format("more than {} nested loops", max_loops));
    }
    const std::uint64_t outer = loops_.empty() ? 1 : loops_.back().times;
    // Both are below 2^27.
    if (outer * times > max_executed) {
      line.refuse(fmt::format("more than {} loop iterations in total", max_executed));
    }
    loops_.push_back({static_cast<std::uint32_t>(program().size()), outer * times});
    turns_.push_back(times);
  }

  void close_loop(TraceLine& line) {
    if (loops_.empty()) line.refuse("'end' without a repeat");
    const std::uint32_t first = loops_.back().first;
    if (first == program().size()) line.refuse("expected instructions between repeat and end");
    loops_.pop_back();
    add(line, repeat(first, turns_.back()));
    turns_.pop_back();
  }

  void add(const TraceLine& line, const Instruction& instruction) {
    if (++count_ > max_instructions) {
      line.refuse(
          fmt::format("more than {} instructions in all programs: trace fewer groups, or "
                      "write loops as repeat",
                      max_instructions));
    }
    program().push_back(instruction);
  }

  Program& program() { return file_.trace.programs.back(); }

  std::string_view rest_;
  std::size_t line_number_{0};
  TraceFile file_{};
  InstructionReader instructions_{file_.trace};
  bool is_in_program_{false};
  bool is_in_group_{false};
  std::vector<Loop> loops_{};  ///< that are open; their `times` with those around them
  std::vector<std::uint64_t> turns_{};
  std::vector<std::uint64_t> executed_{};  ///< by a warp of each program
  std::uint64_t executed_by_program_{0};
  std::uint64_t executed_in_all_{0};
  std::uint64_t count_{0};  ///< of instructions
  std::uint64_t resident_bytes_{0};
  std::uint64_t warps_{0};
  std::uint64_t next_warp_{0};
};

}  // namespace

bool is_kernel_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name &&
         std::all_of(name.begin(), name.end(), [](char letter) {
           return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                  (letter >= '0' && letter <= '9') ||
                  std::string_view("_.+-").find(letter) != std::string_view::npos;
         });
}

TraceFile read_trace_file(std::string_view text) { return TraceReader(text).read(); }

}  // namespace clprobe::simulator
