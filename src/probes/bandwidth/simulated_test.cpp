// SPDX-License-Identifier: Apache-2.0
// The probe `bandwidth` on simulated compute units, from its plan to its findings: what it finds is
// what the machine is.
#include "simulation/api/simulated.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "probes/bandwidth/bandwidth.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::bandwidth {

namespace {

using simulator::Machine;

ProbeResult measured(const Machine& machine, std::vector<std::string> series) {
  const auto backend = simulated_backend(machine, 42);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // a slow host must not change the result
  budget.max_visits = 1;
  budget.min_visits = 1;
  Request request;
  request.series = std::move(series);
  return measure(probe, *backend, request, budget, {});
}

const Finding* find(const ProbeResult& result, std::string_view name, std::string_view series,
                    int level) {
  for (const Finding& each : result.findings) {
    if (each.name == name && each.series == series && each.level == level) return &each;
  }
  return nullptr;
}

/// Returns the bandwidth of one unit in bytes per cycle; 0 without a finding or value.
double rate(const ProbeResult& result, std::string_view series, int level) {
  const Finding* const found = find(result, "unit_bandwidth", series, level);
  return found != nullptr && found->value ? *found->value : 0.0;
}

bool holds(const Finding* finding, std::uint64_t bytes) {
  constexpr double rounding = 1e-9;
  const auto truth = static_cast<double>(bytes);
  return finding != nullptr && finding->low && finding->high &&
         *finding->low * (1.0 - rounding) <= truth && truth <= *finding->high * (1.0 + rounding);
}

/// Returns a value with a tolerance of 1 %.
doctest::Approx about(double bytes_per_cycle) {
  return doctest::Approx(bytes_per_cycle).epsilon(0.01);
}

TEST_CASE("bandwidth finds the ports of a machine, its caches, and that units limit each") {
  const Machine machine = simulator::preset("hopper-like");
  const ProbeResult result = measured(machine, {"read", "read-one-unit", "local"});
  CHECK(result.status == Status::ok);
  // The rate of the port is not quite reached, since each warp waits for its last value.
  const auto port =
      static_cast<double>(machine.load_store.lines_per_interval * machine.l1.line_bytes) /
      static_cast<double>(machine.load_store.interval_cycles);
  CHECK(rate(result, "read", 1) <= port);
  CHECK(rate(result, "read", 1) >= 0.95 * port);
  CHECK(rate(result, "read", 2) == about(machine.l2.bytes_per_cycle));
  CHECK(rate(result, "read", 3) == about(machine.memory.bytes_per_cycle));
  CHECK(holds(find(result, "capacity", "read", 1), machine.l1.bytes));
  CHECK(holds(find(result, "capacity", "read", 2), machine.l2.bytes));
  CHECK(rate(result, "read-one-unit", 2) == about(machine.l2.bytes_per_cycle));
  CHECK(rate(result, "local", 1) >= 0.9 * port);
  for (int level = 1; level <= 3; ++level) {
    CAPTURE(level);
    REQUIRE(find(result, "limit", "read", level) != nullptr);
    CHECK(find(result, "limit", "read", level)->label == "units");
  }
  // The bandwidth of all units together is that of one unit times the number of units.
  const double all = machine.core.clock_ghz * 1e9 * static_cast<double>(machine.core.compute_units);
  CHECK(*find(result, "bandwidth", "read", 2)->value / all == about(machine.l2.bytes_per_cycle));
}

TEST_CASE("bandwidth finds ports of other widths, and none that the machine has not") {
  Machine machine = simulator::preset("hopper-like");
  machine.core.compute_units = 2;
  machine.l2 = {.bytes = 4 << 20,
                .ways = 16,
                .latency_cycles = {200, 200},
                .bytes_per_cycle = 96.0,
                .atomic_cycles = 1};
  machine.memory.bytes_per_cycle = 24.0;
  const ProbeResult result = measured(machine, {"read", "read-own"});
  CHECK(rate(result, "read", 2) == about(96.0));
  CHECK(rate(result, "read", 3) == about(24.0));
  CHECK(holds(find(result, "capacity", "read", 2), machine.l2.bytes));
  // In `read-own` each of the two units has its own working set, so that each unit uses half of
  // L2.
  CHECK(holds(find(result, "capacity", "read-own", 2), machine.l2.bytes / 2));
  machine.l1.keeps_loads = false;
  const ProbeResult without = measured(machine, {"read"});
  CHECK(rate(without, "read", 1) == about(96.0));
}

TEST_CASE("where few loads may be in flight, they and the latency are the bandwidth") {
  const Machine fermi = simulator::preset("fermi-m2070");
  const ProbeResult lines = measured(fermi, {"read"});
  const auto bytes = static_cast<double>(fermi.pending.entries * fermi.l1.line_bytes);
  CHECK(rate(lines, "read", 1) == about(bytes / 365.0));
  CHECK(rate(lines, "read", 2) == about(bytes / 570.0));
  CHECK(holds(find(lines, "capacity", "read", 1), fermi.l2.bytes));
  const Machine kepler = simulator::preset("kepler-k20-prt");
  const ProbeResult instructions = measured(kepler, {"read"});
  // The table holds 44 instructions. Each instruction loads 32 vectors of 16 bytes (512 bytes),
  // with a latency of 222 cycles.
  CHECK(rate(instructions, "read", 1) == about(44.0 * 512.0 / 222.0));
}

TEST_CASE("what a simulated machine has not is said") {
  const Machine machine = simulator::preset("gsi");
  const ProbeResult result = measured(machine, {"image", "write", "copy"});
  CHECK(result.points.empty());
  REQUIRE(result.findings.size() == 3);
  for (const Finding& each : result.findings) {
    CHECK_FALSE(each.value);
    const bool is_image = each.series == "image";
    CHECK(each.reason.find(is_image ? "does not support images" : "one compute unit") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace clprobe::bandwidth
