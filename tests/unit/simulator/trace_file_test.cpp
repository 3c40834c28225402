// SPDX-License-Identifier: Apache-2.0
// Traces as text: what was written reads back as the same and simulates the same, the page's
// example is one, and what is none is refused in one line.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "unit/golden.hpp"
#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"
#include "unit/trace_text.hpp"

namespace clprobe::simulator {
namespace {

/// What is said of a text; empty when it is a trace.
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read_trace_file(text));
  } catch (const TraceFileError& error) {
    return error.what();
  }
  return "";
}

/// A trace with this line in its only program.
std::string with_instruction(const std::string& line) {
  return "clprobe-trace 1\nlock at=0x100\ntable 0 1 2 3\nprogram 0\n" + line +
         "\ngroup\nwarp program=0 lanes=32\n";
}

Instruction instruction_in(const std::string& line) {
  return read_trace_file(with_instruction(line)).trace.programs.at(0).at(0);
}

std::vector<std::uint64_t> list_in(const std::string& line) {
  const TraceFile file = read_trace_file(with_instruction(line));
  return file.trace.tables.at(file.trace.programs.at(0).at(0).lanes.table);
}

/// The indented block of the page that begins like a trace.
std::string example_of_page() {
  const std::string page = read_golden("../../docs/trace.md");
  std::string text;
  for (std::size_t at = page.find("    clprobe-trace 1\n"); page.compare(at, 4, "    ") == 0;) {
    const std::size_t end = page.find('\n', at) + 1;
    text += page.substr(at + 4, end - at - 4);
    at = end;
  }
  return text;
}

}  // namespace

TEST_CASE("a random trace reads back as the same text and the same simulation") {
  Random random(19);
  for (int round = 0; round < rounds(100); ++round) {
    CAPTURE(round);
    const Machine machine = random_machine(random);
    TraceFile file{.kernel = "random", .groups_of = GroupsOf::launch};
    file.trace = random_trace(random, machine);
    const std::string text = to_text(file);
    const TraceFile read = read_trace_file(text);
    CHECK(read.kernel == file.kernel);
    CHECK(read.groups_of == file.groups_of);
    CHECK(to_text(read) == text);
    const StallAccount before = account_stalls(machine, file.trace);
    const StallAccount after = account_stalls(machine, read.trace);
    CHECK(before.result == after.result);
    CHECK(before.gsi.cycles == after.gsi.cycles);
    CHECK(before.all_causes.cycles == after.all_causes.cycles);
  }
}

TEST_CASE("every kind of line, written as it always was") {
  const std::string text = read_golden("../fuzz/corpus/trace/everything.txt");
  check_golden("trace.txt", to_text(read_trace_file(text)));
}

TEST_CASE("the page's example is a trace that runs to its end") {
  const TraceFile file = read_trace_file(example_of_page());
  CHECK(file.kernel == "saxpy");
  CHECK(file.groups_of == GroupsOf::unit);
  REQUIRE(file.trace.groups.size() == 2);
  CHECK(file.trace.groups[1].warps.at(1).number == 3);
  // 1 + 4 * 3 + 1 of each of 4 warps.
  CHECK(simulate(preset("gsi"), file.trace).warp_instructions == 56);
}

TEST_CASE("fields of an address") {
  const Lanes lanes = instruction_in(
                          "load r1 at=0x40 lane=-4 warp=8 turn=-9223372036854775807 lane_group=2 "
                          "warp_group=3 bytes=16 active=7 table=0 table_lane=1 table_warp=2 "
                          "table_turn=3")
                          .lanes;
  CHECK(lanes.base == 64);
  CHECK(lanes.lane_step == -4);
  CHECK(lanes.warp_step == 8);
  CHECK(lanes.turn_step == -9223372036854775807);
  CHECK(lanes.lane_group == 2);
  CHECK(lanes.warp_group == 3);
  CHECK(lanes.bytes == 16);
  CHECK(lanes.active == 7);
  CHECK(lanes.table == 0);
  CHECK(lanes.table_lane == 1);
  CHECK(lanes.table_warp == 2);
  CHECK(lanes.table_turn == 3);
}

TEST_CASE("masks and lists of addresses are the lanes that they say") {
  CHECK(instruction_in("store at=64 lane=4 mask=0xff").lanes.active == 8);
  CHECK(instruction_in("store at=64 lane=4 mask=0xff").lanes.table == Lanes::no_table);
  // With holes: how far each lane is from `at`.
  const std::string holes = "store at=64 lane=4 mask=0x8000000000000f00";
  CHECK(list_in(holes) == std::vector<std::uint64_t>{32, 36, 40, 44, 252});
  CHECK(instruction_in(holes).lanes.lane_step == 0);
  CHECK(instruction_in(holes).lanes.active == 5);
  CHECK(list_in("store lane=-8 lane_group=2 mask=0x6") ==
        std::vector<std::uint64_t>{0, 0xfffffffffffffff8});
  CHECK(list_in("store addresses=7,0x10,3") == std::vector<std::uint64_t>{7, 16, 3});
  CHECK(instruction_in("store addresses=7,0x10,3").lanes.active == 3);
}

TEST_CASE("dependences and flags") {
  const Instruction loaded =
      instruction_in("load r63 at=1 needs=r0,r5 skips_l1 mapped written_elsewhere");
  CHECK(loaded.operation == Operation::load);
  CHECK(loaded.writes == std::uint64_t{1} << 63U);
  CHECK(loaded.reads == 0x21);
  CHECK(loaded.skips_l1);
  CHECK(loaded.is_mapped);
  CHECK(instruction_in("store mapped").is_mapped);
  CHECK(loaded.is_written_elsewhere);
  CHECK(instruction_in("release 0").reads == ~std::uint64_t{0});
  CHECK(instruction_in("release 0 needs=r1").reads == 2);
  CHECK(instruction_in("local_store copy=3").id == 3);
  CHECK(instruction_in("copy_in 2 size=0x100").count == 256);
}

TEST_CASE("what is no trace is refused with the line and what was expected") {
  struct Refused {
    std::string text;
    std::string message;
  };
  const std::string head = "clprobe-trace 1\n";
  const std::vector<Refused> all{
      {"", "line 1: the first line of a trace must be 'clprobe-trace 1'"},
      {"clprobe-trace 2\n", "line 1: expected a version number from 1 to 1, found "},
      {head, "line 1: expected a group of warps before the end of the file"},
      {head + "kernel a/b\n", "line 2: expected a name of at most 64 letters"},
      {head + "groups device\n", "line 2: expected unit or launch, found 'device'"},
      {head + "alu r1\n", "line 2: 'alu' belongs to a program: write 'program 0' before it"},
      {head + "jump r1\n", "line 2: a line of a trace cannot begin with 'jump'"},
      {head + "program 1\n", "line 2: expected 0 as the number of the next program"},
      {head + "table 1 5\n", "line 2: expected 0 as the number of the next table"},
      {head + "lock at=1 held=5-3\n", "line 2: held= expects a number of cycles or LOW-HIGH"},
      {head + "resident l3 bytes=1\n", "line 2: expected l1 or l2, found 'l3'"},
      {head + "resident l2 bytes=268435456\nresident l2 bytes=1\n", "line 3: more than 268435456"},
      {head + "program 0\ngroup\n", "line 3: expected instructions before this line"},
      {head + "program 0\nrepeat 2\nend\n",
       "line 4: expected instructions between 'repeat' and 'end'"},
      {head + "program 0\nend\n", "line 3: 'end' without a repeat"},
      {head + "program 0\nrepeat 2\nalu r1\ngroup\n", "line 5: expected 'end' before this line"},
      {head + "program 0\nrepeat 2\nalu r1\n", "line 4: expected 'end' before this line"},
      {head + "program 0\nrepeat 0\n",
       "line 3: expected a repeat count from 1 to 100000000, found '0'"},
      {head + "program 0\nalu r1\nwarp program=0 lanes=1\n", "line 4: a warp belongs to a group"},
      {head + "group\nwarp program=0 lanes=1\n", "line 3: expected a program before this line"},
      {head + "program 0\nalu r1\ngroup\ngroup\n",
       "line 5: expected a warp in the group before this line"},
      {head + "program 0\nalu r1\ngroup\nwarp program=1 lanes=1\n",
       "line 5: program= expects a whole number from 0 to 0, found '1'"},
      {head + "program 0\nalu r1\ngroup\nwarp program=0 lanes=65\n", "from 1 to 64, found '65'"},
      {head + "program 0\nalu r1\ngroup\nwarp program=0\n", "line 5: expected lanes= after 'warp'"},
      {head + "program 0\nrepeat 100000000\nalu r1\nend\ngroup\nwarp program=0 lanes=1 count=2\n",
       "line 7: more than 100000000 warp instructions in total"},
      {head + "program 0\nrepeat 10000\nrepeat 10001\nalu r1\n",
       "line 4: more than 100000000 loop iterations"},
  };
  for (const Refused& each : all) {
    CAPTURE(each.text);
    const std::string said = refusal(each.text);
    CAPTURE(said);
    CHECK(said.find(each.message) != std::string::npos);
    CHECK(said.find('\n') == std::string::npos);
  }
}

TEST_CASE("an instruction that cannot be is refused with what was expected") {
  struct Refused {
    std::string line;
    std::string message;
  };
  const std::vector<Refused> all{
      {"alu", "expected a register, r0 to r63 after 'alu'"},
      {"alu r64", "expected a register, r0 to r63, found 'r64'"},
      {"alu 1", "expected a register, r0 to r63, found '1'"},
      {"alu r1 needs=r1,", "expected a register, r0 to r63, found ''"},
      {"alu r1 at=5", "'at=5' is not allowed after 'alu'"},
      {"alu r1 r2", "'r2' is not allowed after 'alu'"},
      {"store at=0x1 at=0x2", "at= is given twice: leave one out"},
      {"store at=-1", "at= expects a whole number, found '-1'"},
      {"store at=18446744073709551616", "at= expects a whole number"},
      {"store lane=0x", "lane= expects a whole number, found '0x'"},
      {"store lane=--1", "lane= expects a whole number, found '--1'"},
      {"store bytes=65", "bytes= expects a whole number from 1 to 64, found '65'"},
      {"store active=0", "active= expects a whole number from 1 to 64"},
      {"store lane_group=0", "lane_group= expects a whole number from 1 to 64"},
      {"store mask=0", "mask= expects a whole number from 1 to"},
      {"store mask=1 table=0", "addresses=, mask= and table= cannot be combined: choose one"},
      {"store mask=5 active=2", "addresses= and mask= define the active lanes"},
      {"store addresses=1,,2", "addresses= expects a whole number, found ''"},
      {"store table=1", "table= expects a whole number from 0 to 0, found '1'"},
      {"store table_lane=1", "'table_lane=1' is not allowed after 'store'"},
      {"atomic r1 mapped", "'mapped' is not allowed after 'atomic'"},
      {"store skips_l1", "'skips_l1' is not allowed after 'store'"},
      {"acquire 1", "expected a lock from 0 to 0, found '1'"},
      {"copy_in 1", "expected size= after 'copy_in'"},
      {"copy_in 1 size=16777217", "size= expects a whole number from 1 to 16777216"},
      {"load r1 at=\x1b[31m", "found '?[31m'"},
  };
  for (const Refused& each : all) {
    CAPTURE(each.line);
    const std::string said = refusal(with_instruction(each.line));
    CAPTURE(said);
    CHECK(said.starts_with("line 5: "));
    CHECK(said.find(each.message) != std::string::npos);
  }
  std::string list = "store addresses=0";
  for (int i = 0; i < 64; ++i) list += ",1";
  CHECK(refusal(with_instruction(list)) == "line 5: more than 64 addresses");
  std::string nested;
  for (int i = 0; i < 17; ++i) nested += "repeat 1\n";
  CHECK(refusal(with_instruction(nested)) == "line 21: more than 16 nested loops");
}

TEST_CASE("warps are written as one line only where their numbers go on") {
  CHECK(group_text({{{.number = 4}, {.number = 5}, {.number = 7}, {.number = 6}}}) ==
        "group\n  warp program=0 lanes=32 number=4 count=2\n  warp program=0 lanes=32 number=7\n"
        "  warp program=0 lanes=32 number=6\n");
  CHECK(group_text({{{.lanes = 32}, {.lanes = 31, .number = 1}}}).find("count") ==
        std::string::npos);
}

TEST_CASE("groups run at once as far as local memory reaches") {
  const auto cycles = [](const std::string& local) {
    const std::string group = "group" + local + "\nwarp program=0 lanes=32\n";
    const TraceFile file =
        read_trace_file("clprobe-trace 1\nprogram 0\nload r1 at=0 warp=65536\nalu r2 needs=r1\n" +
                        group + group + group);
    CHECK(read_trace_file(to_text(file)).trace.groups.at(2).local_bytes ==
          file.trace.groups.at(2).local_bytes);
    return simulate(preset("gsi"), file.trace).cycles;
  };
  // Of 16 KiB: three, two and one at once, each of which waits for main memory.
  const std::uint64_t at_once = cycles("");
  CHECK(cycles(" local=5461") == at_once);
  const std::uint64_t two = cycles(" local=8192");
  const std::uint64_t one = cycles(" local=8193");
  CHECK(two > at_once + at_once / 2);
  CHECK(one > two + at_once / 2);
  CHECK_THROWS_WITH_AS(cycles(" local=16385"),
                       "groups[0]: expected at most 16384 bytes of local memory, found 16385",
                       TraceError);
}

TEST_CASE("what has no text is refused, and not written as something else") {
  TraceFile file{.trace = {.programs = {{alu(1)}}, .groups = {{{{.lanes = 1}}}}}};
  CHECK_FALSE(to_text(file).empty());
  file.trace.next_program = [](std::uint32_t, std::uint64_t) { return 1U; };
  CHECK_THROWS_AS(to_text(file), TraceError);
  file.trace.next_program = {};
  file.trace.programs = {{alu(1), alu(2), repeat(0, 2), alu(3), repeat(1, 2)}};
  CHECK_THROWS_AS(to_text(file), TraceError);
}

}  // namespace clprobe::simulator
