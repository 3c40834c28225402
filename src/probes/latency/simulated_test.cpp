// SPDX-License-Identifier: Apache-2.0
// The probe `latency` on simulated compute units, from its plan to its findings: what it finds is
// what the machine is.
#include "simulation/api/simulated.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "probes/latency/devices_test.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::latency {
namespace {

using simulator::Machine;

ProbeResult measured(const Machine& machine, const Request& request) {
  const auto backend = simulated_backend(machine, 42);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // a slow host must not change the result
  budget.max_visits = 1;
  budget.min_visits = 1;
  return measure(probe, *backend, request, budget, {});
}

std::optional<Finding> finding(const ProbeResult& result, std::string_view name,
                               std::string_view series, std::optional<int> level = {}) {
  for (const Finding& each : result.findings) {
    if (each.name == name && each.series == series && each.level == level) return each;
  }
  return std::nullopt;
}

/// Returns the value of a finding; 0 without a finding or value.
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
    // Sizes extend to three times L2. Above L1 the ratios are larger: plateaus need only a few
    // sizes, and large rings take long to simulate.
    set_sizes(request, {{kibibytes(1), {machine.l1.bytes * 3}, 1.1},
                        {{machine.l1.bytes * 3}, {machine.l2.bytes / 2}, 1.6},
                        {{machine.l2.bytes / 2}, {machine.l2.bytes * 3}, 1.25}});
    const ProbeResult result = measured(machine, request);
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

/// Returns the label of the step after a level; "none" without a step.
std::string step(const ProbeResult& result, int level) {
  const auto found = finding(result, "step", "global", level);
  return found ? found->label : std::string("none");
}

TEST_CASE("the end of a cache is no translation, and that of a translation buffer is") {
  Machine machine = simulator::preset("fermi-m2070");
  Request request;
  request.series = {"global", "global-pages"};
  set_sizes(request, {{kibibytes(1), mebibytes(256), 1.19}});
  const ProbeResult plain = measured(machine, request);
  // L1 has 16 KiB. The chase with one node per page has only one page of that size.
  CHECK(step(plain, 1) == "cache");
  CHECK(step(plain, 2) == "cache");
  CHECK(step(plain, 3) == "none");

  machine.translation = {.entries = 64, .page_bytes = 64 << 10, .miss_cycles = 200};
  const ProbeResult walking = measured(machine, request);
  CHECK(step(walking, 1) == "cache");
  CHECK(step(walking, 2) == "cache");
  CHECK(step(walking, 3) == "translation");
  check_capacity(walking, 3, mebibytes(4).count);
  // At the largest sizes nearly every load misses the TLB; at the smallest size of the plateau
  // fewer loads do.
  CHECK(value(walking, "cycles", "global", 4) == doctest::Approx(570.0 + 200.0).epsilon(0.03));
}

TEST_CASE("a translation buffer of two pages is told from a cache of their size") {
  Machine machine = simulator::preset("fermi-m2070");
  machine.l1.keeps_loads = false;
  machine.translation = {.entries = 2, .page_bytes = 16 << 10, .miss_cycles = 200};
  Request request;
  request.series = {"global", "global-pages"};
  set_sizes(request, {{kibibytes(1), kibibytes(512), 1.09}});
  const ProbeResult result = measured(machine, request);
  CHECK(step(result, 1) == "translation");
  check_capacity(result, 1, kibibytes(32).count);
}

TEST_CASE("in the order of addresses nothing comes earlier, but for translations") {
  Request request;
  request.series = {"global", "global-in-order"};
  request.own.set("order", std::vector<std::string>{"fixed"});
  set_sizes(request, {{kibibytes(1), mebibytes(64), 1.19}});
  for (const std::string_view name : {"fermi-m2070", "gtx-780-ti", "gsi"}) {
    CAPTURE(name);
    const ProbeResult result = measured(simulator::preset(name), request);
    int level = 1;
    for (; finding(result, "cycles", "global", level); ++level) {
      CAPTURE(level);
      CHECK(value(result, "cycles", "global-in-order", level) ==
            doctest::Approx(value(result, "cycles", "global", level)).epsilon(0.02));
    }
    CHECK(level > 2);
    CHECK_FALSE(finding(result, "cycles", "global-in-order", level));
    const auto in_order = finding(result, "in_order", "global-in-order");
    REQUIRE(in_order);
    CHECK(*in_order->value == doctest::Approx(1.0).epsilon(0.02));
  }
  // The 512 lines of a page need one translation in address order, and 512 translations in random
  // order.
  Machine machine = simulator::preset("fermi-m2070");
  machine.translation = {.entries = 64, .page_bytes = 64 << 10, .miss_cycles = 200};
  set_sizes(request, {{mebibytes(64), mebibytes(64), 0.0}});
  const auto in_order = finding(measured(machine, request), "in_order", "global-in-order");
  REQUIRE(in_order);
  CHECK(*in_order->value == doctest::Approx(570.0 / 770.0).epsilon(0.03));
}

TEST_CASE("what the simulator cannot measure is said and no failure") {
  const Machine machine = simulator::preset("gsi");
  Request request;
  request.series = {"image", "constant-argument"};
  const ProbeResult result = measured(machine, request);
  CHECK(result.status == Status::unsupported);
  CHECK(result.points.empty());
  const auto backend = simulated_backend(machine, 1);
  Probe without_trace = probe;
  without_trace.trace = nullptr;
  Point point;
  point.series = "global";
  CHECK_THROWS_AS(backend->prepare(without_trace, point), Unsupported);
}

}  // namespace
}  // namespace clprobe::latency
