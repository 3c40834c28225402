// SPDX-License-Identifier: Apache-2.0
// Findings of control and compute stalls, from kernels that have these stalls.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/stacks.hpp"
#include "measure/api/engine.hpp"
#include "simulation/api/simulated.hpp"
#include "unit/gsi_runs.hpp"

namespace clprobe::gsi {
namespace {

ProbeResult measured_compute(const simulator::Machine& machine) {
  const auto backend = simulated_backend(machine, 1);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // long enough for all samples on a slow host
  return measure(probe, *backend, request_for({"compute"}), budget, {});
}

/// Returns the share of a stall type in GSI's view of a bar; 0 if the bar has no such part.
double share_of(const ProbeResult& result, std::string_view bar, std::string_view label) {
  for (const Finding& each : result.findings) {
    const bool is_it = each.series == bar && each.method == stack_view_gsi && each.label == label;
    if (is_it) return *each.value;
  }
  return 0.0;
}

}  // namespace

TEST_CASE("kernels that only compute have the stalls that other cases have little of") {
  const ProbeResult result = measured_compute(simulator::preset("gsi"));
  CHECK(result.status == Status::ok);
  CHECK(share_of(result, "compute, chain", "compute data: arithmetic result") > 0.2);
  CHECK(share_of(result, "compute, chain", "compute data: special-function result") > 0.2);
  CHECK(share_of(result, "compute, special functions",
                 "compute structural: busy special-function units") > 0.5);
  CHECK(share_of(result, "compute, branches", "control: branch") > 0.5);
  // One of two units has half of the other unit's work, and is idle for half of the time: 25 % of
  // the mean unit.
  CHECK(share_of(result, "compute, tail", "idle") == doctest::Approx(0.25).epsilon(0.02));
  CHECK(share_of(result, "compute, chain", "idle") == 0.0);
  // On this machine, warps start 100 cycles late, which adds a stall type to each kernel.
  simulator::Machine late = simulator::preset("gsi");
  late.instructions.start_cycles = 100;
  const ProbeResult started = measured_compute(late);
  const auto cycles = [](const ProbeResult& of, std::size_t point) {
    return of.points.at(point).facts.integer("cycles");
  };
  CHECK(cycles(started, 0) == cycles(result, 0) + 100);
  const double start = share_of(started, "compute, chain", "control: start of a sub-group");
  CHECK(start * static_cast<double>(cycles(started, 0)) == doctest::Approx(100.0));
}

}  // namespace clprobe::gsi
