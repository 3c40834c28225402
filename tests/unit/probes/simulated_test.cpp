// SPDX-License-Identifier: Apache-2.0
// Probes on simulated compute units, through the engine: what they find is what the machine is.
#include "clprobe/simulated.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/registry.hpp"
#include "clprobe/simulator.hpp"

namespace clprobe {
namespace {

using simulator::Machine;

ProbeResult measured(const Machine& machine, std::string_view probe, const Request& request) {
  const auto backend = simulated_backend(machine, 42);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // a slow host changes nothing
  budget.max_visits = 1;
  budget.min_visits = 1;
  return measure(*find_probe(probe), *backend, request, budget, {});
}

std::optional<Finding> finding(const ProbeResult& result, std::string_view name,
                               std::string_view series, std::optional<int> level = {}) {
  for (const Finding& each : result.findings) {
    if (each.name == name && each.series == series && each.level == level) return each;
  }
  return std::nullopt;
}

/// The value; 0 where nothing was found.
double value(const ProbeResult& result, std::string_view name, std::string_view series, int level) {
  const auto found = finding(result, name, series, level);
  return found && found->value ? *found->value : 0.0;
}

void check_capacity(const ProbeResult& result, int level, std::uint64_t bytes) {
  CAPTURE(level);
  const auto found = finding(result, "capacity", "global", level);
  REQUIRE(found);
  REQUIRE(found->low);
  REQUIRE(found->high);
  CHECK(*found->low <= static_cast<double>(bytes));
  CHECK(*found->high >= static_cast<double>(bytes));
}

bool is_between(double value, const simulator::Latency& range) {
  constexpr double rounding = 1e-6;
  return value >= static_cast<double>(range.low) - rounding &&
         value <= static_cast<double>(range.high) + rounding;
}

TEST_CASE("latency finds the levels of every preset") {
  for (const std::string_view name : simulator::preset_names()) {
    CAPTURE(name);
    const Machine machine = simulator::preset(name);
    Request request;
    request.series = {"global", "local"};
    // Beyond a large second level, with no more sizes than its plateaus need.
    request.own.set(
        "sizes", std::vector<SizeRange>{{kibibytes(1), {machine.l1.bytes * 3}, 1.1},
                                        {{machine.l1.bytes * 3}, {machine.l2.bytes / 2}, 1.6},
                                        {{machine.l2.bytes / 2}, {machine.l2.bytes * 3}, 1.25}});
    const ProbeResult result = measured(machine, "latency", request);
    CHECK(result.status == Status::ok);
    int level = 1;
    if (machine.l1.keeps_loads) {
      CHECK(value(result, "cycles", "global", level) ==
            doctest::Approx(static_cast<double>(machine.l1.latency_cycles)));
      check_capacity(result, level++, machine.l1.bytes);
    }
    CHECK(is_between(value(result, "cycles", "global", level), machine.l2.latency_cycles));
    check_capacity(result, level++, machine.l2.bytes);
    CHECK(is_between(value(result, "cycles", "global", level), machine.memory.latency_cycles));
    CHECK(value(result, "cycles", "local", 1) ==
          doctest::Approx(static_cast<double>(machine.local.latency_cycles)));
  }
}

/// The best bandwidth of reading ints, for one compute unit, in bytes a cycle.
double bytes_per_cycle(const Machine& machine, const ProbeResult& result) {
  const auto found = finding(result, "bandwidth", "read int");
  if (!found || !found->value) return 0.0;
  const double units = static_cast<double>(machine.core.compute_units);
  return *found->value / (machine.core.clock_ghz * 1e9) / units;
}

Request reading_ints() {
  Request request;
  request.own.set("type", std::vector<std::string>{"int"});
  request.own.set("vector", std::vector<std::string>{"1"});
  request.own.set("operation", std::vector<std::string>{"read"});
  return request;
}

TEST_CASE("stride finds what a compute unit fetches at once, and what its memory gives") {
  const Machine hopper = simulator::preset("hopper-like");
  const ProbeResult sectors = measured(hopper, "stride", reading_ints());
  CHECK(sectors.status == Status::ok);
  const auto knee = finding(sectors, "knee", "read int");
  REQUIRE(knee);
  CHECK(knee->value == static_cast<double>(hopper.l1.sector_bytes));
  // By the port of its memory, less the time until the first bytes come.
  CHECK(bytes_per_cycle(hopper, sectors) ==
        doctest::Approx(hopper.memory.bytes_per_cycle).epsilon(0.05));

  const Machine gsi = simulator::preset("gsi");
  const ProbeResult lines = measured(gsi, "stride", reading_ints());
  const auto line = finding(lines, "knee", "read int");
  REQUIRE(line);
  CHECK(line->value == static_cast<double>(gsi.l1.line_bytes));
  // By Little's law: 32 lines of 64 bytes under way for 197 to 261 cycles.
  const double in_flight = static_cast<double>(gsi.pending.entries * gsi.l1.line_bytes);
  CHECK(bytes_per_cycle(gsi, lines) <= in_flight / 197.0);
  CHECK(bytes_per_cycle(gsi, lines) >= 0.95 * in_flight / 261.0);
}

TEST_CASE("banks finds the banks, their width and what a conflict costs") {
  Machine machine = simulator::preset("hopper-like");
  for (const std::uint64_t way_cycles : {1U, 2U}) {
    CAPTURE(way_cycles);
    machine.local.way_cycles = way_cycles;
    Request request;
    request.series = {"load-latency", "load-throughput"};
    request.own.set("words", std::vector<std::string>{"4"});
    // More accesses under way than a latency has cycles.
    request.own.set("sub-groups", std::vector<int>{8});
    request.own.set("instructions", std::vector<int>{8});
    request.effort = Effort::quick;
    const ProbeResult result = measured(machine, "banks", request);
    CHECK(result.status == Status::ok);
    const auto of = [&](std::string_view name, std::string_view series) {
      const auto found = finding(result, name, series);
      return found && found->value ? *found->value : 0.0;
    };
    CHECK(of("banks", "local memory") == 32.0);
    CHECK(of("bank_width", "local memory") == 4.0);
    CHECK(of("conflict_free", "load-latency 4 B") == doctest::Approx(29.0));
    CHECK(of("cost_per_way", "load-latency 4 B") ==
          doctest::Approx(static_cast<double>(way_cycles)).epsilon(0.01));
    CHECK(of("cost_per_way", "load-throughput 4 B") ==
          doctest::Approx(static_cast<double>(way_cycles)).epsilon(0.02));
  }
}

TEST_CASE("what the simulator cannot measure is said and no failure") {
  const Machine machine = simulator::preset("gsi");
  Request request;
  request.series = {"image", "constant-argument"};
  const ProbeResult result = measured(machine, "latency", request);
  CHECK(result.status == Status::unsupported);
  CHECK(result.points.empty());
  const auto backend = simulated_backend(machine, 1);
  Probe without_trace = *find_probe("latency");
  without_trace.trace = nullptr;
  Point point;
  point.series = "global";
  CHECK_THROWS_AS(backend->prepare(without_trace, point), Unsupported);
}

TEST_CASE("the witness is what the trace must issue, loops within loops") {
  using namespace simulator;
  const Machine machine = preset("fermi-m2070");
  Trace trace;
  trace.programs = {{alu(1), alu(2, {1}), repeat(1, 3), alu(3), repeat(0, 5)}, {alu(1)}};
  trace.groups = {make_group(machine, 64), {{{.program = 1, .lanes = 32, .number = 0}}}};
  // (1 + 3 + 1) x 5 of each of two warps, and one.
  CHECK(instructions_of(trace) == 2 * 25 + 1);
  CHECK(simulate(machine, trace).warp_instructions == instructions_of(trace));
}

}  // namespace
}  // namespace clprobe
