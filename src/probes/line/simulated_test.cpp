// SPDX-License-Identifier: Apache-2.0
// The probe `line` on simulated devices, from its plan to its findings: it finds the machine's
// lines and sectors.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "probes/line/line.hpp"
#include "rounds.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::line {
namespace {

using simulator::Machine;

ProbeResult measured_on(const Machine& machine, const Request& request = {}) {
  const auto backend = simulated_backend(machine, 42);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // a slow host must not change the result
  budget.max_visits = 1;
  budget.min_visits = 1;
  return measure(probe, *backend, request, budget, {});
}

const Finding* found_at(const ProbeResult& result, std::string_view name, int level) {
  for (const Finding& each : result.findings) {
    if (each.name == name && each.level == level) return &each;
  }
  return nullptr;
}

double value_at(const ProbeResult& result, std::string_view name, int level) {
  const Finding* const found = found_at(result, name, level);
  return found != nullptr && found->value ? *found->value : 0.0;
}

/// Checks both levels. The smallest distance between nodes is 32 bytes, so that smaller lines look
/// as large.
void check_levels(const ProbeResult& result, const Machine& machine) {
  const auto line = static_cast<double>(machine.l1.line_bytes);
  const auto sector = static_cast<double>(machine.l1.sector_bytes);
  for (const int level : {1, 2}) {
    CAPTURE(level);
    CHECK(value_at(result, "line", level) == line);
    CHECK(value_at(result, "fetch", level) == sector);
    const Finding* const filling = found_at(result, "filling", level);
    REQUIRE(filling != nullptr);
    CHECK(filling->label == (sector < line ? "sectored" : "lines"));
  }
}

Machine random_machine(std::mt19937_64& random) {
  const auto one_of = [&](std::initializer_list<std::uint64_t> values) {
    return *(values.begin() + random() % values.size());
  };
  Machine machine;
  machine.l1.line_bytes = one_of({32, 64, 128});
  machine.l1.sector_bytes = machine.l1.line_bytes >> random() % 3;
  machine.l1.ways = one_of({4, 8, 16});
  machine.l1.bytes = one_of({8, 16, 24, 48, 64}) << 10U;
  machine.l1.latency_cycles = one_of({4, 20, 35});
  machine.l2.ways = one_of({8, 16});
  machine.l2.bytes = one_of({1024, 1536, 2048, 3072}) << 10U;
  machine.l2.latency_cycles = {150 + random() % 50, 200};
  machine.memory.latency_cycles = {450, 450 + random() % 100};
  return machine;
}

}  // namespace

TEST_CASE("line: lines and sectors of random machines") {
  std::mt19937_64 random(20261201);
  for (int i = 0; i < rounds(12); ++i) {
    CAPTURE(i);
    const Machine machine = random_machine(random);
    CAPTURE(to_json_line(machine));
    check_levels(measured_on(machine), machine);
  }
}

TEST_CASE("line: a line beyond the largest distance is a lower bound") {
  Machine machine;
  machine.l1.line_bytes = 512;
  machine.l1.sector_bytes = 64;
  machine.l2.bytes = 1U << 20U;
  const ProbeResult result = measured_on(machine);
  const Finding* const line = found_at(result, "line", 1);
  REQUIRE(line != nullptr);
  CHECK(line->value == 256.0);
  CHECK_FALSE(line->high.has_value());
  CHECK(value_at(result, "fetch", 1) == 64.0);
  CHECK(card(result).lines.at(0).text.starts_with("L1 at least 256 B (fetches 64 B)"));
}

TEST_CASE("line: without a cache that keeps loads, the first level is L2") {
  Machine machine = simulator::preset("kepler-k20-prt");
  machine.memory.latency_cycles = {500, 500};
  const ProbeResult result = measured_on(machine);
  CHECK(value_at(result, "line", 1) == 128.0);
  CHECK(value_at(result, "fetch", 1) == static_cast<double>(machine.l1.sector_bytes));
  CHECK(found_at(result, "line", 2) == nullptr);
}

TEST_CASE("line: only the series that the request names") {
  Request request;
  request.series = {std::string(cold_series)};
  const ProbeResult result = measured_on(simulator::preset("fermi-m2070"), request);
  CHECK(found_at(result, "line", 1) == nullptr);
  CHECK(found_at(result, "fetch", 1) == nullptr);
  CHECK(value_at(result, "fetch", 2) == 128.0);
}

}  // namespace clprobe::line
