// SPDX-License-Identifier: Apache-2.0
// Machines as files and presets, and what they look like as a device.
#include <doctest/doctest.h>

#include <string>

#include "simulation/api/machine.hpp"

namespace clprobe::simulator {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(machine_from_json(text));
  } catch (const RunFormatError& error) {
    return error.what();
  }
  return "accepted";
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

template <typename Change>
std::string problem_with(Change change) {
  Machine machine = preset("gsi");
  machine.l1.line_bytes = machine.l1.sector_bytes = 64;
  change(machine);
  try {
    check(machine);
  } catch (const MachineError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("every preset is a machine that a file can hold") {
  for (const std::string_view name : preset_names()) {
    CAPTURE(name);
    const Machine machine = preset(name);
    CHECK(machine.name == name);
    CHECK_NOTHROW(check(machine));
    CHECK(machine_from_json(to_json(machine)) == machine);
    CHECK(machine_from_json(to_json_line(machine)) == machine);
  }
}

TEST_CASE("presets have the numbers of their sources") {
  const Machine fermi = preset("fermi-m2070");
  CHECK(fermi.pending == Pending{PendingKind::mshr, 128, 8});
  CHECK(fermi.local.latency_cycles == 27);
  CHECK(fermi.memory.latency_cycles == Latency{570, 570});
  CHECK(preset("fermi-m2070-units").load_store_units.count == 3);
  CHECK(preset("kepler-k20-pool").pending == Pending{PendingKind::request_pool, 1362, 0});
  CHECK(preset("kepler-k20-prt").pending == Pending{PendingKind::prt, 44, 0});
  const Machine gtx = preset("gtx-780-ti");
  CHECK(gtx.core.compute_units == 15);
  CHECK(gtx.core.clock_ghz == 0.928);
  CHECK(gtx.local.bank_bytes == 8);
}

TEST_CASE("sim:gsi has what the thesis states of its machine: table 5.1, chapter 5, 6.2.1") {
  const Machine gsi = preset("gsi");
  CHECK(gsi.core.clock_ghz == 0.7);
  CHECK(gsi.core.compute_units == 15);
  CHECK(gsi.local.bytes == 16U << 10U);
  CHECK(gsi.local.banks == 32);
  CHECK(gsi.local.latency_cycles == 1);
  CHECK(gsi.l1.bytes == 32U << 10U);
  CHECK(gsi.l1.ways == 8);
  CHECK(gsi.l1.latency_cycles == 1);
  CHECK(gsi.l1_banks.count == 8);
  CHECK(gsi.sharing.remote_latency_cycles == Latency{35, 83});
  CHECK(gsi.l2.bytes == 4U << 20U);
  CHECK(gsi.l2_banks.count == 16);
  CHECK(gsi.l2.latency_cycles == Latency{29, 61});
  CHECK(gsi.memory.latency_cycles == Latency{197, 261});
  CHECK(gsi.pending.kind == PendingKind::mshr);
  CHECK(gsi.pending.entries == 32);
  CHECK(gsi.store_buffer.entries == 32);
  CHECK(gsi.copy.granularity == CopyGranularity::core);
  CHECK(gsi.copy.requests_per_cycle == 1);
  // Of the GTX 480 that it is similar to, and of GPGPU-Sim's.
  CHECK(gsi.core.issue_width == 2);
  CHECK(gsi.core.scheduler == Scheduler::greedy_then_oldest);
  CHECK(gsi.l1.line_bytes == 128);
}

TEST_CASE("a file says how synchronization is made cheaper only where it is") {
  Machine machine = preset("gsi");
  CHECK(to_json(machine).find("synchronization") == std::string::npos);
  machine.synchronization.stores_pass_releases = true;
  CHECK(machine_from_json(to_json(machine)) == machine);
  CHECK(to_json(machine).find("owns_atomics") != std::string::npos);
}

TEST_CASE("a file says when instructions come to a warp only where that takes time") {
  Machine machine = preset("gsi");
  CHECK(to_json(machine).find("start_cycles") == std::string::npos);
  machine.instructions.start_cycles = 12;
  CHECK(machine_from_json(to_json(machine)) == machine);
  CHECK(to_json(machine).find("start_cycles") != std::string::npos);
}

TEST_CASE("a file says what translates addresses only where that takes time") {
  Machine machine = preset("gsi");
  CHECK(to_json(machine).find("translation") == std::string::npos);
  machine.translation = {.entries = 16, .page_bytes = 4096, .miss_cycles = 90};
  const std::string text = to_json(machine);
  CHECK(machine_from_json(text) == machine);
  for (const std::string_view field : {"entries", "page_bytes", "miss_cycles"}) {
    CAPTURE(field);
    CHECK(text.find(field, text.find("translation")) < text.find("\"l2\""));
  }
  machine.translation.page_bytes = 2048;
  CHECK_THROWS_WITH(static_cast<void>(machine_from_json(to_json(machine))),
                    doctest::Contains("translation.page_bytes: expected an integer from 4096"));
}

TEST_CASE("an unknown preset is answered with the list and the nearest") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(preset("fermi-m2050")),
      "no machine is called 'fermi-m2050' (did you mean fermi-m2070?); available: fermi-m2070, "
      "fermi-m2070-units, kepler-k20-pool, kepler-k20-prt, gtx-780-ti, gsi, hopper-like",
      MachineError);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(preset("zzzzzz")),
      "no machine is called 'zzzzzz'; available: fermi-m2070, fermi-m2070-units, kepler-k20-pool, "
      "kepler-k20-prt, gtx-780-ti, gsi, hopper-like",
      MachineError);
}

TEST_CASE("a machine file with a fault is refused with its path") {
  const std::string good = to_json_line(preset("gsi"));
  CHECK(refusal_of(good) == "accepted");
  CHECK(refusal_of("[]") == "document: expected an object, found an array");
  CHECK(refusal_of("{") ==
        "document: expected more JSON, found the end of the file, which may be truncated");
  CHECK(refusal_of(with(good, R"("entries":32)", R"("entries":"32")")) ==
        R"(pending.entries: expected a non-negative integer, found the string "32")");
  CHECK(refusal_of(with(good, R"("entries":32)", R"("entries":-1)")) ==
        "pending.entries: expected a non-negative integer, found -1");
  CHECK(refusal_of(with(good, R"("entries":32)", R"("entries":99999999)")) ==
        "pending.entries: expected an integer from 0 to 16777216, found 99999999");
  CHECK(refusal_of(with(good, R"("mergers":0)", R"("mergres":0)")) ==
        "pending.mergres: expected no key of this name, found 0");
  CHECK(refusal_of(with(good, R"(,"mergers":0)", "")) ==
        "pending.mergers: expected an integer from 0 to 16777216, found nothing");
  CHECK(refusal_of(with(good, R"("mergers":0)", R"("mergers":0,"colour":1)")) ==
        "pending.colour: expected no key of this name, found 1");
  CHECK(refusal_of(with(good, R"("name":"gsi")", R"("name":"gsi","more":{})")) ==
        "more: expected no key of this name, found an object");
  CHECK(refusal_of(with(good, R"("kind":"mshr")", R"("kind":"table")")) ==
        R"(pending.kind: expected one of mshr, request-pool, prt, found the string "table")");
  CHECK(refusal_of(with(good, R"("clock_ghz":0.7)", R"("clock_ghz":0)")) ==
        "core.clock_ghz: expected a number from 0.001 to 100, found 0");
  CHECK(refusal_of(with(good, R"("keeps_loads":true)", R"("keeps_loads":1)")) ==
        "l1.keeps_loads: expected true or false, found 1");
  CHECK(refusal_of(with(good, R"({"low":29,"high":61})", R"({"low":62,"high":61})")) ==
        "l2.latency_cycles.high: expected at least the value of low, found 61");
  CHECK(refusal_of(with(good, R"("store_buffer":{"entries":32})", R"("store_buffer":32)")) ==
        "store_buffer: expected an object, found 32");
}

TEST_CASE("fields that do not fit each other are refused") {
  CHECK(problem_with([](Machine&) {}) == "accepted");
  CHECK(problem_with([](Machine& m) { m.l1.line_bytes = 96; }) ==
        "l1.line_bytes: expected a power of two, found 96");
  CHECK(problem_with([](Machine& m) { m.l1.sector_bytes = 128; }) ==
        "l1.sector_bytes: expected a power of two up to l1.line_bytes, found 128");
  // A line's sectors are bits of a word: 32 of them, and not 64.
  const auto lines_of_sectors = [](std::uint64_t line, std::uint64_t sector) {
    return problem_with([=](Machine& m) {
      m.l1.line_bytes = line;
      m.l1.sector_bytes = sector;
    });
  };
  CHECK(lines_of_sectors(128, 4) == "accepted");
  CHECK(lines_of_sectors(256, 4) ==
        "l1.sector_bytes: expected at least l1.line_bytes / 32, found 4");
  CHECK(problem_with([](Machine& m) { m.l1.bytes += 64; }) ==
        "l1.bytes: expected a multiple of l1.line_bytes times l1.ways, found 32832");
  CHECK(problem_with([](Machine& m) { m.l1.bytes = std::uint64_t{1} << 40U; }) ==
        "l1.bytes: expected at most 536870912 (8388608 lines of l1.line_bytes), found "
        "1099511627776");
  CHECK(problem_with([](Machine& m) { m.l2.bytes = (std::uint64_t{1} << 29U) + 1024; }) ==
        "l2.bytes: expected at most 536870912 (8388608 lines of l1.line_bytes), found 536871936");
  CHECK(problem_with([](Machine& m) { m.l2.bytes = std::uint64_t{1} << 29U; }) == "accepted");
  CHECK(problem_with([](Machine& m) { m.l2.bytes += 64; }) ==
        "l2.bytes: expected a multiple of l1.line_bytes times l2.ways, found 4194368");
  CHECK(problem_with([](Machine& m) { m.core.max_work_group_size = 2048; }) ==
        "core.max_work_group_size: expected at most core.warp_contexts times core.warp_width, "
        "found 2048");
  CHECK(problem_with([](Machine& m) { m.core.issue_width = 0; }) ==
        "core.issue_width: expected an integer from 1 to 64, found 0");
  CHECK(problem_with([](Machine& m) { m.name.clear(); }) ==
        "name: expected a name, found the string \"\"");
  CHECK(problem_with([](Machine& m) { m.load_store_units.count = 0; }) ==
        "load_store_units.count: expected an integer from 1 to 16, found 0");
}

TEST_CASE("a machine looks like a device that says what it is") {
  const Machine machine = preset("fermi-m2070");
  const DeviceInfo device = describe_device(machine);
  CHECK(device.name == "simulated fermi-m2070");
  CHECK(device.platform == "clprobe simulator");
  CHECK(is_simulated(device));
  CHECK(device.sub_group_size == 32);
  CHECK(device.max_work_group_size == 1024);
  CHECK(device.local_memory == kibibytes(48));
  CHECK(device.timer == Timer::clock);
  CHECK(device.clock.kind == ClockKind::simulated);
  CHECK(device.clock.rate == ClockRate::core_cycles);
  CHECK(device.clock.overhead_ticks == 1);
  CHECK(device.clock.ticks_per_ns == doctest::Approx(1.15));
  // Everything that the result depends on is in the document.
  CHECK(machine_from_json(device.reported.text("machine")) == machine);
}

TEST_CASE("a simulated device survives the run document") {
  Run run;
  run.device = describe_device(preset("hopper-like"));
  const std::vector<Run> runs{run};
  CHECK(runs_from_json(clprobe::to_json(runs)).at(0).device == run.device);
}

}  // namespace clprobe::simulator
