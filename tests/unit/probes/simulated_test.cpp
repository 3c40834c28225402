// SPDX-License-Identifier: Apache-2.0
// Probes on simulated compute units, through the engine: what they find is what the machine is.
#include "simulation/api/simulated.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clprobe/registry.hpp"
#include "sample_once.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe {
namespace {

using simulator::Machine;

ProbeResult measured(const Machine& machine, std::string_view probe, const Request& request) {
  const auto backend = simulated_backend(machine, 42);
  return measure(*find_probe(probe), *backend, request, Budget{}, {});
}

/// A simulated machine on a host so busy that each point takes it a minute.
class OnBusyHost final : public Backend {
 public:
  explicit OnBusyHost(const Machine& machine) : backend_(simulated_backend(machine, 42)) {}

  [[nodiscard]] const DeviceInfo& device() const override { return backend_->device(); }
  PreparedPoint prepare(const Probe& probe, const Point& point) override {
    now_ += std::chrono::minutes(1);
    return backend_->prepare(probe, point);
  }
  [[nodiscard]] std::chrono::steady_clock::time_point now() const override { return now_; }

 private:
  std::unique_ptr<Backend> backend_;
  std::chrono::steady_clock::time_point now_{std::chrono::steady_clock::now()};
};

std::optional<Finding> finding(const ProbeResult& result, std::string_view name,
                               std::string_view series, std::optional<int> level = {}) {
  for (const Finding& each : result.findings) {
    if (each.name == name && each.series == series && each.level == level) return each;
  }
  return std::nullopt;
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

  // Two schedulers of this machine take the last sub-group first: its next loads are served by the
  // line that its first one asked for, so that no stride fetches a line twice. Without that there
  // is the line.
  Machine gsi = simulator::preset("gsi");
  const ProbeResult merged = measured(gsi, "stride", reading_ints());
  const auto early = finding(merged, "knee", "read int");
  REQUIRE(early);
  CHECK(early->value == 32.0);
  CHECK_FALSE(finding(merged, "sector", "read int")->value);
  gsi.pending.mergers = 1;
  const ProbeResult lines = measured(gsi, "stride", reading_ints());
  const auto line = finding(lines, "knee", "read int");
  REQUIRE(line);
  CHECK(line->value == static_cast<double>(gsi.l1.line_bytes));
  // By Little's law: 32 lines of 128 bytes under way for 197 to 261 cycles.
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
    request.own.set("word-size", std::vector<std::string>{"4"});
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

TEST_CASE("banks finds the model of conflicts on a host that has no time for it") {
  const Probe& banks = *find_probe("banks");
  Request request;
  request.series = {"load-latency", "load-model"};
  request.own.set("word-size", std::vector<std::string>{"8"});
  const auto measured_with = [&](const Budget& budget) {
    OnBusyHost host(simulator::preset("gtx-780-ti"));
    return measure(banks, host, request, budget, {});
  };
  Budget budget = banks.budgets.normal;
  const ProbeResult whole = measured_with(budget);
  CHECK(whole.warnings.empty());
  for (const char* const each : {"c1", "c2", "published_c1", "published_c2"}) {
    CAPTURE(each);
    const auto found = finding(whole, each, "load-model");
    REQUIRE(found);
    CHECK(found->value);
  }
  budget.is_asked_for = true;
  const ProbeResult cut = measured_with(budget);
  CHECK(cut.points.size() == 2);
  CHECK_FALSE(finding(cut, "c1", "load-model"));
}

TEST_CASE("points that are simulated in threads are those that are simulated one after another") {
  const Probe* const probe = find_probe("gsi");
  REQUIRE(probe != nullptr);
  const simulator::Machine machine = simulator::preset("gsi");
  Request request;
  request.own.set("case", std::vector<std::string>{"implicit", "compute", "utsd"});
  request.own.set("set", std::vector<std::string>{"nodes=256"});
  const auto backend = simulated_backend(machine, 1, {}, 3);
  const ProbeResult result = measure(*probe, *backend, request, Budget{}, {});
  REQUIRE(result.points.size() > 15);
  const auto alone = simulated_backend(machine, 1);
  for (const Point& point : result.points) {
    CAPTURE(point.series);
    Point other{.series = point.series, .parameters = point.parameters};
    const PreparedPoint prepared = alone->prepare(*probe, other);
    const Sample sample = sample_once(prepared);
    CHECK(sample.event_ns == point.samples.at(0).event_ns);
    CHECK(sample.witness == point.samples.at(0).witness);
    CHECK(prepared.facts == point.facts);
  }
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
