// SPDX-License-Identifier: Apache-2.0
// The probe `pages` on simulated devices, from its plan to its findings: it finds the machine's
// translation buffer.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string_view>

#include "probes/pages/pages.hpp"
#include "probes/shared/finding.hpp"
#include "rounds.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::pages {
namespace {

using simulator::Machine;

ProbeResult measured_on(const Machine& machine) {
  const auto backend = simulated_backend(machine, 42);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // a slow host must not change the result
  budget.max_visits = 1;
  budget.min_visits = 1;
  return measure(probe, *backend, {}, budget, {});
}

/// A machine whose first cache holds 64 to 256 lines.
Machine random_machine(std::mt19937_64& random) {
  const auto one_of = [&](std::initializer_list<std::uint64_t> values) {
    return *(values.begin() + random() % values.size());
  };
  Machine machine;
  machine.l1.ways = one_of({4, 8, 16});
  machine.l1.bytes = one_of({8, 16, 32}) << 10U;
  machine.l1.latency_cycles = one_of({4, 20, 35});
  machine.l2.bytes = one_of({1024, 1536, 3072}) << 10U;
  machine.l2.latency_cycles = {150 + random() % 50, 200};
  machine.memory.latency_cycles = {450, 450 + random() % 100};
  machine.translation = {.entries = 16 + random() % 600,
                         .page_bytes = one_of({16, 64, 256, 2048}) << 10U,
                         .miss_cycles = 60 + random() % 300};
  return machine;
}

/// Returns true if the findings are those of the machine. A first cache that holds more lines than
/// the buffer has entries hides the end of the buffer.
bool is_right(const ProbeResult& result, const Machine& machine) {
  const Finding* const reach = find_finding(result.findings, "reach");
  const Finding* const page = find_value(result.findings, "page");
  if (reach == nullptr) return false;
  const auto true_page = static_cast<double>(machine.translation.page_bytes);
  const double true_reach = static_cast<double>(machine.translation.entries) * true_page;
  const std::uint64_t lines = machine.l1.bytes / machine.l1.line_bytes;
  if (reach->high && !reach->value) {
    return *reach->high >= 0.99 * true_reach && machine.translation.entries < 2 * lines;
  }
  if (!reach->high) return *reach->value <= true_reach;
  if (page == nullptr) return false;
  const bool is_page = page->high ? page->value == true_page : page->value <= true_page;
  const double error = *reach->value / true_reach;
  return is_page && error > 0.9 && error < 1.15;
}

}  // namespace

TEST_CASE("pages: translation buffers of random machines") {
  std::mt19937_64 random(20261201);
  const int machines = rounds(40);
  int right = 0;
  for (int i = 0; i < machines; ++i) {
    const Machine machine = random_machine(random);
    const ProbeResult result = measured_on(machine);
    CAPTURE(i);
    CAPTURE(to_json_line(machine));
    for (const Finding& each : result.findings) {
      CAPTURE(each.name);
      CAPTURE(each.value.value_or(0.0));
      CAPTURE(each.high.value_or(0.0));
      WARN(is_right(result, machine));
    }
    right += is_right(result, machine) ? 1 : 0;
  }
  CHECK(right >= 0.97 * machines);
}

TEST_CASE("pages: without translation, the largest ring is a lower bound") {
  const ProbeResult result = measured_on(Machine{});
  const Finding* const reach = find_value(result.findings, "reach");
  REQUIRE(reach != nullptr);
  CHECK(reach->low == reach->value);
  CHECK_FALSE(reach->high.has_value());
  CHECK(*reach->value > 100e6);
  CHECK(find_finding(result.findings, "page") == nullptr);
}

}  // namespace clprobe::pages
