// SPDX-License-Identifier: Apache-2.0
// Work-items that were run one by one become the instructions of a warp.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "simulation/oclgrind/fold.hpp"

namespace clprobe::tracer {
namespace {

/// The sites are numbered as they are added, and stand in the program in this order.
class Kernel {
 public:
  std::uint32_t add(Site site) {
    sites_.push_back(std::move(site));
    return static_cast<std::uint32_t>(sites_.size() - 1);
  }
  Step step(std::uint32_t site, std::vector<MemoryAccess> accesses = {}, Value chosen = 0) {
    return {.spot = spots_.find(Spots::kernel, site),
            .site = site,
            .chosen = chosen,
            .accesses = std::move(accesses)};
  }
  [[nodiscard]] std::string text(const std::vector<Steps>& lanes, bool is_first = true) const {
    const FoldedWarp folded = fold_warp(sites_, spots_, lanes, is_first);
    return simulator::program_text(folded.program, 0, folded.tables);
  }

 private:
  std::vector<Site> sites_{};
  Spots spots_{};
};

MemoryAccess load_at(std::uint64_t address, Space space = Space::global) {
  return {space, Access::load, address, 4};
}

constexpr Site add_of(Value result) { return {.kind = Kind::operation, .result = result}; }

}  // namespace

TEST_CASE("work-items that do the same are one instruction, their addresses steps") {
  Kernel kernel;
  const auto load = kernel.add({.kind = Kind::memory, .result = 1});
  const auto sum = kernel.add({.kind = Kind::operation, .result = 2, .operands = {1}});
  const auto store = kernel.add({.kind = Kind::memory, .operands = {2}});
  std::vector<Steps> lanes;
  for (std::uint64_t i = 0; i < 4; ++i) {
    lanes.push_back({kernel.step(load, {load_at(4096 + 8 * i)}), kernel.step(sum),
                     kernel.step(store, {{Space::global, Access::store, 64 - 4 * i, 4}})});
  }
  CHECK(kernel.text(lanes) ==
        "program 0\n  load r0 at=0x1000 lane=8\n  alu r1 needs=r0\n"
        "  store at=0x40 lane=-4 needs=r1\n");
}

TEST_CASE("lanes that go different ways take turns, and meet behind them") {
  Kernel kernel;
  const auto test = kernel.add({.kind = Kind::branch});
  const auto then = kernel.add(add_of(1));
  const auto otherwise = kernel.add({.kind = Kind::special, .result = 2});
  const auto joined = kernel.add({.kind = Kind::renaming, .result = 3, .operands = {1, 2}});
  const auto use = kernel.add({.kind = Kind::operation, .result = 4, .operands = {3}});
  const Steps left{kernel.step(test), kernel.step(then), kernel.step(joined, {}, 1),
                   kernel.step(use)};
  const Steps right{kernel.step(test), kernel.step(otherwise), kernel.step(joined, {}, 2),
                    kernel.step(use)};
  CHECK(kernel.text({left, right, left}) ==
        "program 0\n  branch\n  alu r0\n  special r1\n  alu r2 needs=r0,r1\n");
  CHECK(kernel.text({left, left}) == "program 0\n  branch\n  alu r0\n  alu r1 needs=r0\n");
}

TEST_CASE("who leaves a loop early waits behind it") {
  Kernel kernel;
  const auto body = kernel.add({.kind = Kind::memory, .result = 1});
  const auto after = kernel.add({.kind = Kind::operation, .result = 2, .operands = {1}});
  std::vector<Steps> lanes;
  for (std::uint64_t i = 0; i < 3; ++i) {
    Steps steps;
    for (std::uint64_t turn = 0; turn <= i; ++turn) {
      steps.push_back(kernel.step(body, {load_at(turn * 256 + i * 4)}));
    }
    steps.push_back(kernel.step(after));
    lanes.push_back(std::move(steps));
  }
  CHECK(kernel.text(lanes) ==
        "program 0\n  load r0 lane=4\n  load r1 addresses=0x104,0x108\n"
        "  load r2 addresses=0x208\n  alu r3 needs=r0,r1,r2\n");
}

TEST_CASE("two values that a loop exchanges keep where they came from") {
  Kernel kernel;
  const auto one = kernel.add(add_of(1));
  const auto other = kernel.add({.kind = Kind::special, .result = 2});
  const auto first = kernel.add({.kind = Kind::renaming, .result = 3, .operands = {1, 4}});
  const auto second = kernel.add({.kind = Kind::renaming, .result = 4, .operands = {2, 3}});
  const auto use = kernel.add({.kind = Kind::operation, .result = 5, .operands = {4}});
  Step exchanged = kernel.step(second, {}, 3);
  exchanged.takes_older = true;
  const Steps lane{kernel.step(one),          kernel.step(other),
                   kernel.step(first, {}, 1), kernel.step(second, {}, 2),
                   kernel.step(first, {}, 4), exchanged,
                   kernel.step(use)};
  CHECK(kernel.text({lane}) == "program 0\n  alu r0\n  special r1\n  alu r2 needs=r0\n");
}

TEST_CASE("the first lanes alone are so many active ones") {
  Kernel kernel;
  const auto load = kernel.add({.kind = Kind::memory, .result = 1});
  const Steps none;
  CHECK(kernel.text({{kernel.step(load, {load_at(0)})}, {kernel.step(load, {load_at(4)})}, none}) ==
        "program 0\n  load r0 lane=4 active=2\n");
  CHECK(kernel.text({none, {kernel.step(load, {load_at(8)})}}) ==
        "program 0\n  load r0 addresses=0x8\n");
}

TEST_CASE("private memory is registers: a value keeps where it came from") {
  Kernel kernel;
  const auto load = kernel.add({.kind = Kind::memory, .result = 1});
  const auto keep = kernel.add({.kind = Kind::memory, .operands = {1}});
  const auto again = kernel.add({.kind = Kind::memory, .result = 2});
  const auto use = kernel.add({.kind = Kind::operation, .result = 3, .operands = {2}});
  const Steps lane{kernel.step(load, {load_at(16)}),
                   kernel.step(keep, {{Space::own, Access::store, 100, 4}}),
                   kernel.step(again, {load_at(100, Space::own)}), kernel.step(use)};
  CHECK(kernel.text({lane}) == "program 0\n  load r0 at=0x10\n  alu r1 needs=r0\n");
}

TEST_CASE("a group's first warp begins its copies and waits for them, the others for it") {
  Kernel kernel;
  const auto begin = kernel.add({.kind = Kind::copy});
  const auto wait = kernel.add({.kind = Kind::copy_wait});
  const MemoryAccess in{Space::global, Access::copy_in, 4096, 100, 1};
  const MemoryAccess out{Space::global, Access::copy_out, 8192, 60, 2};
  const std::vector<Steps> lanes(
      2, {kernel.step(begin, {in}), kernel.step(begin, {out}), kernel.step(wait, {in, out})});
  CHECK(kernel.text(lanes) ==
        "program 0\n  copy_in 1 size=100 at=0x1000\n  copy_out 2 size=60 at=0x2000\n"
        "  copy_wait 1\n  copy_wait 2\n  barrier\n");
  CHECK(kernel.text(lanes, false) == "program 0\n  barrier\n");
}

TEST_CASE("a strided copy is a copy of each piece, and has one number") {
  Kernel kernel;
  const auto begin = kernel.add({.kind = Kind::copy});
  const auto wait = kernel.add({.kind = Kind::copy_wait});
  const MemoryAccess in{Space::global, Access::copy_in, 4096, 8, 1, 3, 32};
  const std::vector<Steps> lanes(2, {kernel.step(begin, {in}), kernel.step(wait, {in})});
  CHECK(kernel.text(lanes) ==
        "program 0\n  repeat 3\n    copy_in 1 size=8 at=0x1000 turn=32\n  end\n  copy_wait 1\n"
        "  barrier\n");
}

TEST_CASE("atomics, wide accesses, vectors and barriers") {
  Kernel kernel;
  const auto global = kernel.add({.kind = Kind::memory, .result = 1});
  const auto local = kernel.add({.kind = Kind::memory, .result = 2});
  const auto wide = kernel.add({.kind = Kind::memory, .result = 3});
  const auto vector =
      kernel.add({.kind = Kind::operation, .result = 4, .operands = {3}, .operations = 2});
  const auto barrier = kernel.add({.kind = Kind::barrier});
  const Steps lane{kernel.step(global, {{Space::global, Access::atomic, 64, 4}}),
                   kernel.step(local, {{Space::local, Access::atomic, 8, 4}}),
                   kernel.step(wide, {{Space::global, Access::load, 256, 128}}),
                   kernel.step(vector), kernel.step(barrier)};
  CHECK(kernel.text({lane}) ==
        "program 0\n  atomic r0 at=0x40\n  local_load r1 at=0x8\n  local_store at=0x8 needs=r1\n"
        "  load r2 at=0x100 bytes=64\n  load r3 at=0x140 bytes=64\n  alu r4 needs=r2,r3\n"
        "  alu r5 needs=r2,r3\n  barrier\n");
}

TEST_CASE("spots within a call lie between what is before and behind it") {
  Spots spots;
  const auto before = spots.find(Spots::kernel, 3);
  const auto call = spots.find(Spots::kernel, 4);
  const auto within = spots.find(call, 9);
  const auto behind = spots.find(Spots::kernel, 5);
  CHECK(spots.is_before(before, within));
  CHECK(spots.is_before(call, within));
  CHECK(spots.is_before(within, behind));
  CHECK_FALSE(spots.is_before(behind, within));
  CHECK_FALSE(spots.is_before(call, call));
  CHECK(spots.find(call, 9) == within);
}

TEST_CASE("more values than registers: the oldest is taken to be there") {
  std::vector<Draft> drafts;
  for (std::uint32_t value = 1; value <= 65; ++value) {
    drafts.push_back({{.operation = simulator::Operation::alu}, {}, value});
  }
  drafts.push_back({{.operation = simulator::Operation::alu}, {1, 2, 65}, 66});
  for (std::uint32_t value = 2; value <= 65; ++value) drafts.back().reads.push_back(value);
  const simulator::Program program = give_registers(drafts);
  CHECK(program[0].writes == 1);
  CHECK(program[63].writes == std::uint64_t{1} << 63U);
  // The 65th has the register of the first, which nobody waits for any more.
  CHECK(program[64].writes == 1);
  CHECK(program[65].reads == ~std::uint64_t{0});
}

TEST_CASE("a register is free from its value's last use on, and the longest unused is next") {
  const simulator::Instruction alu{.operation = simulator::Operation::alu};
  const simulator::Program program =
      give_registers({{alu, {}, 1}, {alu, {1}, 2}, {alu, {2}, 3}, {alu, {1}, 4}});
  CHECK(program[1].reads == program[0].writes);
  CHECK(program[2].reads == program[1].writes);
  CHECK(program[3].reads == program[0].writes);
  CHECK((program[2].writes & program[0].writes) == 0);
}

TEST_CASE("a value that is read late keeps its register while many others come and go") {
  const simulator::Instruction alu{.operation = simulator::Operation::alu};
  std::vector<Draft> drafts;
  for (std::uint32_t value = 1; value <= 200; ++value) drafts.push_back({alu, {}, value});
  drafts.push_back({alu, {1}, 201});
  const simulator::Program program = give_registers(drafts);
  CHECK(program[200].reads == program[0].writes);
  for (std::size_t i = 1; i < 200; ++i) CHECK(program[i].writes != program[0].writes);
}

}  // namespace clprobe::tracer
