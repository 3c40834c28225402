// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/trace_file.hpp"
#include "simulator/trace_fields.hpp"
#include "simulator/trace_instructions.hpp"
#include "simulator/trace_lines.hpp"

namespace clprobe::simulator {
namespace {

using trace_words::Form;

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
    if (file_.trace.groups.empty()) last.refuse("expected a group of warps before the file's end");
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
    if (!is_trace) line.refuse("no trace: its first line has to be 'clprobe-trace 1'");
    constexpr std::uint64_t version = 1;
    line.take_number("the version, which is a number", version, version);
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
    if (!loops_.empty()) line.refuse("expected 'end' before it: a repeat is open");
    if (is_in_program_ && program().empty()) line.refuse("expected instructions before it");
    if (is_in_program_) executed_.push_back(executed_by_program_);
    is_in_program_ = false;
    if (is_in_group_ && file_.trace.groups.back().warps.empty()) {
      line.refuse("expected a warp of the group before it");
    }
    is_in_group_ = false;
  }

  void read_kernel(TraceLine& line) {
    const std::string_view name = line.take_word("a name");
    if (!is_kernel_name(name)) {
      line.refuse(
          fmt::format("expected a name of at most {} letters, digits and marks of _.+-, "
                      "found {}",
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
      line.refuse(fmt::format("more than {} bytes are resident in all", max_resident_bytes));
    }
    file_.trace.resident.push_back(resident);
  }

  void read_program(TraceLine& line) {
    const auto number = line.take_number("the program's number", 0, max_instructions);
    if (number != file_.trace.programs.size()) {
      line.refuse(fmt::format("the next program has the number {}", file_.trace.programs.size()));
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
    if (!is_in_group_) line.refuse("a warp stands in a group: write 'group' before it");
    if (file_.trace.programs.empty()) line.refuse("expected a program before it");
    const auto program = line.need_number("program", 0, file_.trace.programs.size() - 1);
    const auto lanes = line.need_number("lanes", 1, trace_words::max_lanes);
    const auto number = line.number_or("number", next_warp_, 0, max_warps);
    const auto count = line.number_or("count", 1, 1, max_warps);
    executed_in_all_ += count * executed_[program];  // both bounded: no more than 47 bits
    if (executed_in_all_ > max_executed) {
      line.refuse(
          fmt::format("more than {} warp instructions in all: trace fewer groups, or a "
                      "smaller problem",
                      max_executed));
    }
    warps_ += count;
    if (warps_ > max_warps) line.refuse(fmt::format("more than {} warps in all", max_warps));
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
      line.refuse(fmt::format("{} begins no line of a trace", shown(line.kind())));
    }
    if (!is_in_program_) {
      line.refuse(fmt::format("'{}' stands in a program: write 'program {}' before it", line.kind(),
                              file_.trace.programs.size()));
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
    const auto times = line.take_number("how often", 1, max_executed);
    if (loops_.size() >= max_loops) {
      line.refuse(fmt::format("more than {} loops within each other", max_loops));
    }
    const std::uint64_t outer = loops_.empty() ? 1 : loops_.back().times;
    // Both are below 2^27.
    if (outer * times > max_executed) {
      line.refuse(fmt::format("loops of more than {} turns in all", max_executed));
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
