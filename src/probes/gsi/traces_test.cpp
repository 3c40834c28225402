// SPDX-License-Identifier: Apache-2.0
// Traces as text: the built-in cases give equal stacks after writing and reading, and options that
// a trace cannot have are refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "measure/api/engine.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"
#include "unit/gsi_runs.hpp"
#include "unit/trace_text.hpp"

namespace clprobe::gsi {

extern const Probe probe;

namespace {

using simulator::Machine;
using simulator::Program;
using simulator::StallAccount;
using simulator::Trace;
using simulator::TraceFile;

Request request_of(const std::string& text) {
  Request request;
  request.own.set("trace", std::vector<std::string>{"some.trace"});
  request.traces.push_back(
      {.path = "some.trace",
       .sha256 = std::string(64, 'a'),
       .file = std::make_shared<const TraceFile>(simulator::read_trace_file(text))});
  return request;
}

ProbeResult measured_trace(const Machine& machine, const Request& request) {
  const auto backend = simulated_backend(machine, 1, request.traces);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // long enough for all samples on a slow host
  return measure(probe, *backend, request, budget, {});
}

/// Checks that the probe's account of a trace equals the account `expected`.
void check_same(const Machine& machine, const std::string& text, const StallAccount& expected) {
  const ProbeResult result = measured_trace(machine, request_of(text));
  REQUIRE(result.status == Status::ok);
  REQUIRE(result.points.size() == 1);
  const auto account = account_in(result.points[0].facts);
  REQUIRE(account);
  CHECK(account->result.cycles == expected.result.cycles);
  CHECK(account->result.flush_cycles == expected.result.flush_cycles);
  for (std::size_t part = 0; part < simulator::stall_parts.size(); ++part) {
    CAPTURE(part);
    CHECK(account->gsi.cycles[part] == doctest::Approx(expected.gsi.cycles[part]));
    CHECK(account->all_causes.cycles[part] == doctest::Approx(expected.all_causes.cycles[part]));
  }
}

/// Returns the search as a trace in which each warp has one program: all programs that the warp
/// executed in a simulation, one after another.
Trace without_choices(const Machine& machine, const TreeSearch& search) {
  Trace trace = make_tree_search(machine, search);
  const auto given = std::make_shared<std::map<std::uint32_t, std::vector<std::uint32_t>>>();
  for (const simulator::WarpWork& warp : trace.groups.at(0).warps) {
    (*given)[warp.number] = {warp.program};
  }
  trace.next_program = [given, next = trace.next_program](std::uint32_t warp, std::uint64_t cycle) {
    const std::uint32_t program = next(warp, cycle);
    (*given)[warp].push_back(program);
    return program;
  };
  simulate(machine, trace);
  std::vector<Program> programs;
  for (simulator::WarpWork& warp : trace.groups.at(0).warps) {
    Program all;
    for (const std::uint32_t each : (*given)[warp.number]) {
      if (each >= trace.programs.size()) continue;  // an index past the last program ends the warp
      const auto begin = static_cast<std::uint32_t>(all.size());
      for (simulator::Instruction instruction : trace.programs[each]) {
        instruction.target += begin;
        all.push_back(instruction);
      }
    }
    warp.program = static_cast<std::uint32_t>(programs.size());
    programs.push_back(std::move(all));
  }
  trace.programs = std::move(programs);
  trace.next_program = {};
  return trace;
}

}  // namespace

TEST_CASE("every case of implicit, written out and read in, has the same stack to the cycle") {
  for (const auto& copy : local_copy_words) {
    for (const std::uint64_t entries : {thesis_mshrs[0], thesis_mshrs[3]}) {
      CAPTURE(copy.word);
      CAPTURE(entries);
      const Machine machine =
          adapt(simulator::preset("gsi"), simulator::Coherence::ownership, entries);
      const Trace trace = make_implicit(machine, {.copy = copy.value});
      check_same(machine, simulator::to_text({.kernel = "implicit", .trace = trace}),
                 account_stalls(machine, trace));
    }
  }
}

TEST_CASE("a search whose warps have what they were given has the same stack to the cycle") {
  for (const TaskQueues queues : {TaskQueues::one, TaskQueues::per_unit}) {
    CAPTURE(to_word(queues));
    const Machine machine = adapt(simulator::preset("gsi"), simulator::Coherence::gpu, 32);
    const TreeSearch search{.queues = queues, .nodes = 60, .units = 1};
    check_same(machine,
               simulator::to_text({.kernel = "search", .trace = without_choices(machine, search)}),
               account_stalls(machine, make_tree_search(machine, search)));
  }
}

TEST_CASE("of a whole launch all units have their shares, or so many as are asked for") {
  const std::string body =
      "program 0\nalu r1\nprogram 1\nrepeat 10\nalu r1 needs=r1\nend\n"
      "group\nwarp program=0 lanes=32 count=3\n"
      "group\nwarp program=1 lanes=32\n";
  Machine machine = simulator::preset("gsi");
  struct Asked {
    std::uint64_t machines;  // compute units of the machine
    std::optional<std::uint64_t> units;
    std::uint64_t simulated, groups, instructions;
  };
  constexpr std::nullopt_t all = std::nullopt;
  for (const Asked& each :
       {Asked{1, all, 1, 2, 13}, Asked{2, all, 2, 2, 13}, Asked{40, all, 16, 2, 13},
        Asked{2, 1, 1, 1, 3}, Asked{15, 1, 1, 1, 3}, Asked{1, 2, 2, 2, 13}}) {
    CAPTURE(each.machines);
    machine.core.compute_units = each.machines;
    Request request = request_of("clprobe-trace 1\ngroups launch\n" + body);
    if (each.units) request.own.set("compute-units", *each.units);
    const ProbeResult result = measured_trace(machine, request);
    REQUIRE(result.points.size() == 1);
    const Point& point = result.points[0];
    CHECK(point.samples.at(0).witness == each.instructions);
    CHECK(point.parameters.integer("groups") == 2);
    CHECK(point.parameters.integer("simulated_groups") == static_cast<std::int64_t>(each.groups));
    CHECK(point.parameters.integer_or("units", 1) == static_cast<std::int64_t>(each.simulated));
    CHECK(units_in(point.facts).size() == (each.simulated == 1 ? 0 : each.simulated));
  }
  const ProbeResult result =
      measured_trace(machine, request_of("clprobe-trace 1\ngroups unit\n" + body));
  CHECK(result.points.at(0).samples.at(0).witness == 13);
}

TEST_CASE("branches are control, and operations that all warps want are compute structural") {
  const auto largest_of = [](const std::string& body) {
    const ProbeResult result = measured_trace(
        simulator::preset("gsi"), request_of("clprobe-trace 1\nprogram 0\nrepeat 100\n" + body +
                                             "\nend\ngroup\nwarp program=0 lanes=32 count=4\n"));
    const auto account = account_in(result.points.at(0).facts);
    REQUIRE(account);
    const auto& cycles = account->gsi.cycles;
    const auto place = std::max_element(cycles.begin(), cycles.end()) - cycles.begin();
    return simulator::stall_parts.at(static_cast<std::size_t>(place)).stall;
  };
  CHECK(largest_of("branch") == simulator::Stall::control);
  CHECK(largest_of("special r1\nspecial r2\nspecial r3\nspecial r4") ==
        simulator::Stall::compute_structural);
  CHECK(largest_of("alu r1\nalu r2\nalu r3\nalu r4") == simulator::Stall::none);
}

TEST_CASE("warps that have to wait for locks prove that they came to their ends") {
  const Request request = request_of(
      "clprobe-trace 1\nlock at=0x1000 held=0-200\nprogram 0\nacquire 0\nalu r1\nrelease 0\n"
      "group\nwarp program=0 lanes=32 number=5 count=4\n");
  const ProbeResult result = measured_trace(simulator::preset("gsi"), request);
  CHECK(result.status == Status::ok);
  CHECK(result.points.at(0).samples.at(0).witness == 6 + 7 + 8 + 9);
}

TEST_CASE("units of a launch have its locks in common, and nobody else holds them") {
  const auto cycles_with = [](std::string_view lock, std::uint64_t units) {
    Request request = request_of(
        "clprobe-trace 1\ngroups launch\n" + std::string(lock) +
        "\nprogram 0\nrepeat 20\nacquire 0\nrepeat 200\nalu r1 needs=r1\nend\nrelease 0\nend\n"
        "group\nwarp program=0 lanes=32 number=0\ngroup\nwarp program=0 lanes=32 number=1\n");
    request.own.set("compute-units", units);
    Machine machine = simulator::preset("gsi");
    machine.core.compute_units = 2;
    const ProbeResult result = measured_trace(machine, request);
    REQUIRE(result.status == Status::ok);
    CHECK(result.points.at(0).samples.at(0).witness == (units == 2 ? 3 : 1));
    return account_in(result.points.at(0).facts)->result.cycles;
  };
  const std::string free = "lock at=0x1000";
  const std::string held = "lock at=0x1000 held=50000-50000";
  // While one unit holds the lock, the other unit waits. Two units therefore take almost twice as
  // long as one unit.
  const std::uint64_t alone = cycles_with(free, 1);
  CHECK(cycles_with(free, 2) > alone * 3 / 2);
  CHECK(cycles_with(held, 2) == cycles_with(free, 2));
  CHECK(cycles_with(held, 1) > 10 * alone);
}

TEST_CASE("--compute-units needs a search or a trace of a whole launch") {
  const std::string body = "program 0\nalu r1\ngroup\nwarp program=0 lanes=32\n";
  const DeviceInfo device = describe_device(simulator::preset("gsi"));
  Request request = request_of("clprobe-trace 1\n" + body);
  request.own.set("compute-units", std::uint64_t{2});
  CHECK(probe.check(device, request) ==
        "--compute-units: applies only to uts, utsd and traces of a whole launch");
  request = request_of("clprobe-trace 1\ngroups launch\n" + body);
  request.own.set("compute-units", std::uint64_t{2});
  CHECK(probe.check(device, request).empty());
}

TEST_CASE("a trace that never ends is a failed point with its reason") {
  const Request request = request_of(
      "clprobe-trace 1\nlock at=0x1000\nprogram 0\nacquire 0\ngroup\nwarp program=0 lanes=1\n");
  const ProbeResult result = measured_trace(simulator::preset("gsi"), request);
  CHECK(result.status == Status::failed);
  CHECK(result.reason.find("while holding a lock") != std::string::npos);
}

TEST_CASE("a trace whose warps ask for locks for ever is a failed point with its reason") {
  const std::string head = "clprobe-trace 1\nlock at=0x1000\nlock at=0x2000\n";
  const std::string one = "group\nwarp program=0 lanes=32\n";
  const std::string two = "group\nwarp program=0 lanes=32\nwarp program=1 lanes=32\n";
  const std::string texts[] = {
      // Deadlocks: a warp acquires a lock twice; two warps each wait for the lock that the other
      // warp holds; a warp holds a lock at a barrier while another warp waits for the lock.
      "program 0\nacquire 0\nacquire 0\nrelease 0\nrelease 0\n" + one,
      "program 0\nacquire 0\nrepeat 100\nalu r1\nend\nacquire 1\nrelease 1\nrelease 0\n"
      "program 1\nacquire 1\nrepeat 100\nalu r1\nend\nacquire 0\nrelease 0\nrelease 1\n" +
          two,
      "program 0\nacquire 0\nbarrier\nrelease 0\n"
      "program 1\nrepeat 100\nalu r1\nend\nacquire 0\nrelease 0\nbarrier\n" +
          two};
  for (const std::string& text : texts) {
    CAPTURE(text);
    const ProbeResult result = measured_trace(simulator::preset("gsi"), request_of(head + text));
    CHECK(result.status == Status::failed);
    CHECK(result.reason.find("no progress after cycle") != std::string::npos);
    CHECK(result.reason.find("warp 0 waits at instruction") != std::string::npos);
  }
}

TEST_CASE("a lock that others hold for long is no standstill") {
  const Request request = request_of(
      "clprobe-trace 1\nlock at=0x1000 held=4000000-4000000\nprogram 0\nacquire 0\nrelease 0\n"
      "acquire 0\nrelease 0\ngroup\nwarp program=0 lanes=1\n");
  const ProbeResult result = measured_trace(simulator::preset("gsi"), request);
  CHECK(result.status == Status::ok);
  CHECK(account_in(result.points.at(0).facts)->result.cycles > 4'000'000);
}

TEST_CASE("who has a lock may be busy for long with something else") {
  // A copy of 64 KiB from very slow memory holds the lock while other warps run.
  Machine machine = simulator::preset("gsi");
  machine.copy.granularity = simulator::CopyGranularity::warp;
  machine.local.bytes = 65536;
  machine.memory.bytes_per_cycle = 0.01;
  const Request request = request_of(
      "clprobe-trace 1\nlock at=0x1000\nprogram 0\nacquire 0\ncopy_in 0 size=65536 at=0x100000\n"
      "copy_wait 0\nrelease 0\nprogram 1\nrepeat 1000\nalu r1\nend\nacquire 0\nrelease 0\n"
      "group local=65536\nwarp program=0 lanes=32\nwarp program=1 lanes=32\n");
  const ProbeResult result = measured_trace(machine, request);
  CHECK_MESSAGE(result.status == Status::ok, result.reason);
  CHECK(account_in(result.points.at(0).facts)->result.cycles > 6'000'000);
}

TEST_CASE("a trace is simulated in the place of the cases, or beside those that are asked for") {
  const std::string text =
      "clprobe-trace 1\nkernel mine\nprogram 0\nalu r1\ngroup\nwarp program=0 lanes=32\n";
  const DeviceInfo device = describe_device(simulator::preset("gsi"));
  Request request = request_of(text);
  const Plan alone = probe.plan(device, request);
  REQUIRE(alone.points.size() == 1);
  CHECK(alone.points[0].series == "mine");
  request.own.set("case", std::vector<std::string>{"utsd"});
  CHECK(probe.plan(device, request).points.size() == 3);
  CHECK(probe.check(device, request).empty());
}

TEST_CASE("what a trace asks of a device or a machine that it cannot do") {
  const Request wide = request_of(
      "clprobe-trace 1\nkernel wide\nprogram 0\nalu r1\ngroup\nwarp program=0 lanes=64\n");
  CHECK(probe.check(describe_device(simulator::preset("gsi")), wide) ==
        "--trace: gsi cannot run wide: groups[0]: expected warps of 1 to 32 lanes, found 64");
  CHECK(probe.check(DeviceInfo{}, wide) ==
        "gsi runs only on simulated devices; use `clprobe --device sim:gsi gsi`");
  // A trace that was not given to this backend has no text to simulate.
  const Request narrow =
      request_of("clprobe-trace 1\nprogram 0\nalu r1\ngroup\nwarp program=0 lanes=32\n");
  const auto backend = simulated_backend(simulator::preset("gsi"), 1);
  const Plan plan = probe.plan(backend->device(), narrow);
  CHECK_THROWS_AS(backend->prepare(probe, plan.points.at(0)), DeviceError);
}

TEST_CASE("a stored point of a trace that cannot be is told from one that can") {
  const Request request =
      request_of("clprobe-trace 1\nprogram 0\nalu r1\ngroup\nwarp program=0 lanes=32\n");
  const DeviceInfo device = describe_device(simulator::preset("gsi"));
  Point point = probe.plan(device, request).points.at(0);
  CHECK_FALSE(probe.find_problem(point));
  point.parameters.set("groups", std::int64_t{0});
  const auto problem = probe.find_problem(point);
  REQUIRE(problem);
  CHECK(problem->name == "groups");
}

}  // namespace clprobe::gsi
