// SPDX-License-Identifier: Apache-2.0
// Options of the cases, and the points and machines that result from the options.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/gsi/case_points.hpp"
#include "probes/shared/fields.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"
#include "unit/gsi_runs.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Machine;

TEST_CASE("what was typed is what is simulated") {
  const Machine machine = simulator::preset("gsi");
  Request request = request_for({"utsd", "implicit"});
  request.own.set("compute-units", std::uint64_t{2});
  request.own.set("set", std::vector<std::string>{
                             "nodes=40", "warps=3", "local-queue=4", "back-off=100", "poll=group",
                             "steps=5", "step-operations=7", "state-lines=6", "written-lines=2",
                             "operations=0", "groups=9", "block=5", "elements=3",
                             "address-operations=1", "object-bytes=16", "store-buffer=8"});
  request.own.set("what-if", std::vector<std::string>{"s-fifo"});
  request.own.set("mshrs", std::vector<int>{16, 48});
  request.own.set("priority", std::vector<std::string>{"control", "idle"});
  const DeviceInfo device = describe_device(machine);
  CHECK(probe.check(device, request).empty());
  const Plan plan = probe.plan(device, request);
  REQUIRE(plan.points.size() == 2 * 2 + 3 * 2);
  CHECK(plan.points[2].series == "utsd, GPU coherence, 48 MSHRs");
  const TreeSearch search = search_of(shape_of<Shape>(plan.points[2]));
  CHECK(search.units == 2);
  CHECK(search.nodes == 40);
  CHECK(search.warps == 3);
  CHECK(search.local_capacity == 4);
  CHECK(search.backoff_cycles == 100);
  CHECK(search.polls_by == Polls::group);
  CHECK(search.steps == 5);
  CHECK(search.operations == 7);
  CHECK(search.state_lines == 6);
  CHECK(search.written_lines == 2);
  const Implicit implicit = implicit_of(shape_of<Shape>(plan.points.back()));
  CHECK(implicit.operations == 0);
  CHECK(implicit.groups == 9);
  CHECK(implicit.warps == 5);
  CHECK(implicit.elements == 3);
  CHECK(implicit.address_operations == 1);
  CHECK(implicit.object_bytes == 16);
  const Machine changed = machine_for(machine, shape_of<Shape>(plan.points[2]));
  CHECK(changed.pending.entries == 48);
  CHECK(changed.store_buffer.entries == 8);
  CHECK(changed.synchronization.stores_pass_releases);
  CHECK_FALSE(changed.synchronization.owns_atomics);
  request.own.set("what-if", std::vector<std::string>{"owned-atomics"});
  const Machine owning =
      machine_for(machine, shape_of<Shape>(probe.plan(device, request).points.front()));
  CHECK(owning.synchronization.owns_atomics);
  CHECK_FALSE(owning.synchronization.stores_pass_releases);
  CHECK(plan.points.back().series == "implicit, stash, 48 MSHRs");
  const SimulatedWork work = probe.trace(machine, plan.points.back());
  CHECK(work.priorities.cycle[0] == simulator::Stall::control);
  CHECK(work.priorities.cycle[1] == simulator::Stall::idle);
  CHECK(work.priorities.cycle[2] == simulator::Stall::memory_structural);
  CHECK(work.priorities.instruction == simulator::Priorities{}.instruction);
  CHECK_FALSE(probe.find_problem(plan.points[2]));
  Point point = plan.points[2];
  point.parameters.set("units", std::int64_t{65});
  REQUIRE(probe.find_problem(point));
  CHECK(probe.find_problem(point)->name == "units");
}

TEST_CASE("what was typed and has no effect is an error") {
  const DeviceInfo device = describe_device(simulator::preset("gsi"));
  const auto problem = [&](std::string_view name, OptionValue value,
                           std::vector<std::string> cases) {
    Request request = request_for(std::move(cases));
    request.own.set(name, std::move(value));
    return probe.check(device, request);
  };
  const auto set_problem = [&](const std::string& setting, std::vector<std::string> cases) {
    return problem("set", std::vector<std::string>{setting}, std::move(cases));
  };
  for (const std::string name :
       {"nodes", "warps", "back-off", "steps", "step-operations", "state-lines", "written-lines"}) {
    CHECK(set_problem(name + "=2", {"implicit"}) ==
          "--set " + name + ": applies only to uts and utsd");
    CHECK(set_problem(name + "=2", {"implicit", "uts"}).empty());
  }
  for (const std::string name :
       {"operations", "groups", "block", "elements", "address-operations", "object-bytes"}) {
    CHECK(set_problem(name + "=4", {"uts"}) == "--set " + name + ": applies only to implicit");
  }
  CHECK(set_problem("poll=group", {"implicit"}) == "--set poll: applies only to uts and utsd");
  CHECK(set_problem("local-queue=4", {"uts"}) == "--set local-queue: applies only to utsd");
  CHECK(set_problem("store-buffer=4", {"compute"}) ==
        "--set store-buffer: does not apply to compute, which accesses no memory");
  CHECK(problem("what-if", std::vector<std::string>{"s-fifo"}, {"implicit"}) ==
        "--what-if: applies only to uts and utsd");
  CHECK(problem("mshrs", std::vector<int>{32}, {"compute"}) ==
        "--mshrs: does not apply to compute, which accesses no memory");
  CHECK(problem("mshrs", std::vector<int>{32}, {"compute", "uts"}).empty());
  Request request = request_for({"uts"});
  request.own.set("mshrs", std::vector<int>{32});
  CHECK(probe.check(describe_device(simulator::preset("kepler-k20-prt")), request) ==
        "--mshrs: kepler-k20-prt has no MSHRs; the machine's loads wait in a prt");
}

TEST_CASE("a parameter that cannot be is one line that says what can") {
  const DeviceInfo device = describe_device(simulator::preset("gsi"));
  const auto problem = [&](std::vector<std::string> settings) {
    Request request = request_for({"uts", "utsd", "implicit"});
    request.own.set("set", std::move(settings));
    return probe.check(device, request);
  };
  CHECK(problem({"nods=3"})
            .starts_with("--set: unknown parameter 'nods' (did you mean nodes?); choose poll, "
                         "store-buffer, "));
  CHECK(problem({"shovel=3"}).starts_with("--set: unknown parameter 'shovel'; choose poll, "));
  CHECK(problem({""}).starts_with("--set: unknown parameter ''; choose "));
  CHECK(problem({"nodes"}) == "--set: nodes must be a whole number from 1 to 65536, not ''");
  CHECK(problem({"nodes=0"}) == "--set: nodes must be a whole number from 1 to 65536, not '0'");
  CHECK(problem({"nodes=65537"}) ==
        "--set: nodes must be a whole number from 1 to 65536, not '65537'");
  CHECK(problem({"nodes=1x"}) == "--set: nodes must be a whole number from 1 to 65536, not '1x'");
  CHECK(problem({"nodes=65536", "written-lines=0"}).empty());
  CHECK(problem({"object-bytes=24"}) ==
        "--set: object-bytes must be a power of two from 4 to 64, not '24'");
  CHECK(problem({"poll=luck"}) == "--set: poll must be warp or group, not 'luck'");
  CHECK(problem({"nodes=1", "nodes=2"}) == "--set: nodes is given twice: leave one out");
  CHECK(problem({"poll=warp", "poll=group"}) == "--set: poll is given twice: leave one out");
}

}  // namespace
}  // namespace clprobe::gsi
