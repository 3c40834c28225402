// SPDX-License-Identifier: Apache-2.0
// The probe `gsi` on simulated machines, from its plan to its findings.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/registry.hpp"
#include "clprobe/stacks.hpp"
#include "measure/api/engine.hpp"
#include "probes/gsi/case_points.hpp"
#include "sample_once.hpp"
#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"
#include "unit/gsi_runs.hpp"

namespace clprobe::gsi {

namespace {

using simulator::Machine;

ProbeResult measured(const Machine& machine, std::vector<std::string> cases) {
  // Runs of the simulator without the probe use this seed too, so that tests can compare the
  // results.
  const std::unique_ptr<Backend> backend = simulated_backend(machine, default_options().seed);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // long enough for all samples on a slow host
  return measure(probe, *backend, request_for(std::move(cases)), budget, {});
}

/// Returns the result of `implicit` on a preset, which is simulated once for all tests.
const ProbeResult& implicit_on(std::string_view name) {
  static std::map<std::string_view, ProbeResult> results;
  const auto found = results.find(name);
  if (found != results.end()) return found->second;
  return results.emplace(name, measured(simulator::preset(name), {"implicit"})).first->second;
}

const ProbeResult& implicit_result() { return implicit_on("gsi"); }

const Finding* find(const ProbeResult& result, std::string_view name, std::string_view series) {
  for (const Finding& each : result.findings) {
    if (each.name == name && each.series == series) return &each;
  }
  return nullptr;
}

/// Returns a point of a search that is small enough for a test.
Point search_point(std::string_view queues, std::string_view coherence) {
  Point point;
  point.series = queues;
  point.parameters = {{"case", std::string(queues)},    {"coherence", std::string(coherence)},
                      {"timer", std::string("event")},  {"nodes", std::int64_t{60}},
                      {"units", std::int64_t{3}},       {"warps", std::int64_t{4}},
                      {"local_queue", std::int64_t{8}}, {"backoff_cycles", std::int64_t{0}},
                      {"poll", std::string("warp")}};
  return point;
}

}  // namespace

TEST_CASE("the command's bars are those of the pure functions, to the cycle") {
  const ProbeResult& result = implicit_result();
  CHECK(result.status == Status::ok);
  CHECK(result.warnings.empty());
  const auto runs = run_implicit();
  CHECK(result.points.size() == runs.size());
  for (const CaseRun& run : runs) {
    CAPTURE(run.name);
    const Finding* const time = find(result, stack_time_name, run.name);
    REQUIRE(time != nullptr);
    CHECK(*time->value == static_cast<double>(run.account.result.cycles));
    for (const Stack& stack : stacks_in(result.findings)) {
      if (stack.bar != run.name) continue;
      const auto& breakdown =
          stack.view == stack_view_gsi ? run.account.gsi : run.account.all_causes;
      double all = 0.0;
      for (const StackPart& part : stack.parts) all += part.share;
      CHECK(all == doctest::Approx(1.0).epsilon(1e-9));
      for (std::size_t i = 0; i < simulator::stall_parts.size(); ++i) {
        const std::string label = label_of(simulator::stall_parts[i]);
        const auto part = std::find_if(stack.parts.begin(), stack.parts.end(),
                                       [&](const StackPart& each) { return each.label == label; });
        const double share = part == stack.parts.end() ? 0.0 : part->share;
        CHECK(share * *time->value == doctest::Approx(breakdown.cycles[i]));
      }
    }
  }
  CHECK(stacks_in(result.findings).size() == 2 * runs.size());
}

TEST_CASE("the sizes of changes stand beside the thesis's where all bars are there") {
  const auto changes = compare_with_thesis(run_implicit());
  for (const CaseChange& each : changes) {
    CAPTURE(each.what);
    const Finding* const here = find(implicit_result(), "here", each.what);
    const Finding* const thesis = find(implicit_result(), "thesis", each.what);
    const bool has_both = here != nullptr && thesis != nullptr;
    REQUIRE(has_both);
    CHECK(*here->value == doctest::Approx(each.here));
    CHECK(*thesis->value == each.thesis);
  }
  // If a bar of the sweep is missing, no change is compared with the thesis.
  std::vector<Point> points = implicit_result().points;
  points.erase(points.begin() + 3);
  const auto fewer = probe.analyse(describe_device(simulator::preset("gsi")), points);
  CHECK(std::none_of(fewer.findings.begin(), fewer.findings.end(),
                     [](const Finding& each) { return each.name == "thesis"; }));
}

TEST_CASE("findings are made anew from a document") {
  Run run;
  run.device = describe_device(simulator::preset("gsi"));
  run.results = {implicit_result()};
  Run loaded = runs_from_json(to_json(std::span(&run, 1))).at(0);
  loaded.results[0].findings.clear();
  analyse_again(probe, loaded.device, loaded.results[0]);
  CHECK(loaded.results[0].findings == implicit_result().findings);
}

TEST_CASE("an account that does not add up is no account") {
  Point point = implicit_result().points.front();
  REQUIRE(account_in(point.facts));
  for (const char* const name : {"cycles", "flush_cycles", "gsi_no_stall_cycles"}) {
    CAPTURE(name);
    Parameters edited = point.facts;
    edited.set(name, std::int64_t{1234567});
    CHECK_FALSE(account_in(edited));
    edited.set(name, std::string("many"));
    CHECK_FALSE(account_in(edited));
  }
  CHECK_FALSE(account_in({}));
  point.facts.set("cycles", std::int64_t{-1});
  const auto found = probe.analyse(describe_device(simulator::preset("gsi")), {&point, 1});
  REQUIRE(found.findings.size() == 1);
  CHECK_FALSE(found.findings[0].value);
  CHECK(found.findings[0].reason.find("add up") != std::string::npos);
}

TEST_CASE("a search proves that it worked on every node once, on any preset") {
  struct Search {
    std::string_view machine;
    std::string_view queues;
    std::string_view coherence;
  };
  std::vector<Search> searches;
  // A search with one queue for hundreds of units takes minutes to simulate, so only the small
  // machine `gsi` runs `uts`.
  for (const std::string_view name : simulator::preset_names()) {
    searches.push_back({name, "utsd", "gpu"});
  }
  searches.push_back({"gsi", "utsd", "ownership"});
  searches.push_back({"gsi", "uts", "gpu"});
  searches.push_back({"gsi", "uts", "ownership"});
  for (const Search& search : searches) {
    CAPTURE(search.machine);
    CAPTURE(search.queues);
    const auto backend = simulated_backend(simulator::preset(search.machine), 1);
    const PreparedPoint prepared =
        backend->prepare(probe, search_point(search.queues, search.coherence));
    CHECK(sample_once(prepared).witness != 0);  // sample_once() throws if the checksum is wrong
    const auto account = account_in(prepared.facts);
    REQUIRE(account);
    CHECK(account->gsi.of(simulator::Stall::none) > 0.0);
  }
}

TEST_CASE("the witness of a search is another one with a node less or more") {
  const Machine machine = simulator::preset("gsi");
  const SimulatedWork work = probe.trace(machine, search_point("utsd", "gpu"));
  const simulator::Trace trace = work.trace(1);
  CHECK(work.witness() == 0);  // 0 before the first simulation
  CHECK(work.units == 3);
  CHECK(simulate_units(machine, trace, work.units).front().cycles > 0);
  CHECK(work.witness() == work.expected_witness);
  for (const std::int64_t nodes : {59, 61}) {
    Point point = search_point("utsd", "gpu");
    point.parameters.set("nodes", nodes);
    CHECK(probe.trace(machine, point).expected_witness != work.expected_witness);
  }
}

TEST_CASE("samples that come again simulate nothing again, nor do visits") {
  static int simulated = 0;
  Probe counting = probe;
  counting.trace = [](const Machine& machine, const Point& point) {
    SimulatedWork work = probe.trace(machine, point);
    work.trace = [trace = work.trace](std::uint64_t iterations) {
      ++simulated;
      return trace(iterations);
    };
    return work;
  };
  const auto backend = simulated_backend(simulator::preset("gsi"), 1);
  const auto result = measure(counting, *backend, request_for({"implicit"}), Budget{}, {});
  CHECK(result.points.size() == 12);
  CHECK(result.points.front().samples.size() == 2);  // two equal samples of one simulation
  CHECK(simulated == 12);
  const PreparedPoint again = backend->prepare(counting, result.points.front());
  CHECK(sample_once(again).witness == result.points.front().samples[0].witness);
  CHECK(simulated == 12);
}

TEST_CASE("times are multiples of that of the bar that was chosen by its number") {
  const DeviceInfo device = describe_device(simulator::preset("gsi"));
  Request request = request_for({"implicit"});
  request.own.set("mshrs", std::vector<int>{32, 64});
  request.own.set("relative-to", std::uint64_t{7});
  CHECK(probe.check(device, request) == "--relative-to: choose 1 to 6, the number of bars");
  request.own.set("relative-to", std::uint64_t{3});
  CHECK(probe.check(device, request).empty());
  const auto backend = simulated_backend(simulator::preset("gsi"), 1);
  const ProbeResult result = measure(probe, *backend, request, {}, {});
  REQUIRE(result.points.size() == 6);
  const std::string baseline = result.points[2].series;
  const double one = *find(result, stack_time_name, baseline)->value;
  for (const Point& point : result.points) {
    const Finding* const relative = find(result, stack_relative_name, point.series);
    REQUIRE(relative != nullptr);
    CHECK(relative->method == baseline);
    CHECK(*relative->value == *find(result, stack_time_name, point.series)->value / one);
  }
  CHECK(find(implicit_result(), stack_relative_name, baseline) == nullptr);
}

TEST_CASE("machines that a case does not fit, and why") {
  Machine small = simulator::preset("gsi");
  small.name = "small";
  small.local.bytes = 512;
  const DeviceInfo device = describe_device(small);
  const std::string problem = probe.check(device, request_for({"implicit"}));
  CHECK(problem.starts_with("--case: implicit: "));
  CHECK(problem.find("expected at most 512 bytes of local memory, found 1024") !=
        std::string::npos);
  CHECK(probe.check(device, request_for({"uts", "utsd"})).empty());
  // A case that does not fit the machine is an error only if the user names it.
  CHECK(probe.check(device, {}).empty());
  const Plan plan = probe.plan(device, {});
  CHECK(plan.points.size() == 4 + 4);
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings[0].series == "implicit");

  Machine narrow = simulator::preset("gsi");
  narrow.core.warp_contexts = 2;
  narrow.core.max_work_group_size = 64;
  CHECK_FALSE(probe.check(describe_device(narrow), request_for({"uts"})).empty());
  CHECK(probe.plan(describe_device(narrow), {}).points.empty());
}

TEST_CASE("a case of other devices is none of simulated machines") {
  const DeviceInfo device = describe_device(simulator::preset("gsi"));
  const Request request = request_for({"chain"});
  CHECK(probe.check(device, request) ==
        "--case: chain: gsi has no such case; choose from uts, utsd, implicit, compute");
  CHECK(probe.plan(device, request).points.empty());
  CHECK(probe.plan(device, request).findings.size() == 1);
}

TEST_CASE("a search is by all compute units of a machine, but at most 16") {
  for (const auto& [name, units] : {std::pair("gsi", 15), {"hopper-like", 16}}) {
    const Machine machine = simulator::preset(name);
    const Plan plan = probe.plan(describe_device(machine), request_for({"uts"}));
    REQUIRE(plan.points.size() == 2);
    CHECK(plan.points.front().parameters.integer("nodes") == 16384);
    CHECK(plan.points.front().parameters.integer("units") == units);
  }
}

TEST_CASE(
    "single units of a bar: the one with least of a part, the median one, the one with most") {
  const auto backend = simulated_backend(simulator::preset("gsi"), 1);
  Point point = search_point("utsd", "gpu");
  const PreparedPoint prepared = backend->prepare(probe, point);
  point.facts = prepared.facts;
  point.samples.push_back(sample_once(prepared));
  const std::vector<simulator::Breakdown> units = units_in(point.facts);
  REQUIRE(units.size() == 3);
  const auto result = probe.analyse(backend->device(), {&point, 1});
  const auto cycles = static_cast<double>(point.facts.integer("cycles"));
  std::vector<double> shares;
  for (const simulator::Breakdown& unit : units) {
    shares.push_back(unit.of(simulator::Stall::none) / cycles);
  }
  std::sort(shares.begin(), shares.end());
  REQUIRE(shares.front() < shares.back());
  std::size_t place = 0;
  for (const auto name : {stack_unit_least_name, stack_unit_median_name, stack_unit_most_name}) {
    const auto found = std::find_if(
        result.findings.begin(), result.findings.end(),
        [&](const Finding& each) { return each.name == name && each.label == "no stall"; });
    REQUIRE(found != result.findings.end());
    CHECK(*found->value == doctest::Approx(shares[place++]));
  }
  // A unit whose view does not add up to the cycles is ignored.
  point.facts.set("unit_1_gsi_no_stall_cycles", 1e9);
  CHECK(units_in(point.facts).empty());
}

TEST_CASE("every preset has the cases, and a sweep where it has MSHRs") {
  const std::map<std::string_view, std::size_t> bars{{"fermi-m2070", 20},
                                                     {"kepler-k20-pool", 11},
                                                     {"kepler-k20-prt", 11},
                                                     {"gsi", 20},
                                                     {"hopper-like", 23}};
  for (const auto& bar : bars) {
    // Clang 14 cannot capture structured bindings in a lambda.
    const std::string_view name = bar.first;
    const std::size_t count = bar.second;
    CAPTURE(name);
    const Machine machine = simulator::preset(name);
    const Plan plan = probe.plan(describe_device(machine), {});
    CHECK(plan.points.size() == count);
    const bool has_mshrs = machine.pending.kind == simulator::PendingKind::mshr;
    CHECK(plan.findings.empty() == has_mshrs);
    CHECK(probe.check(describe_device(machine), {}).empty());
    const ProbeResult& result = implicit_on(name);
    CHECK(result.status == Status::ok);
    CHECK(stacks_in(result.findings).size() == 2 * (count - 4 - 4));
  }
}

TEST_CASE("more MSHRs stall less for them, on every machine that has them") {
  for (const auto* const name : {"fermi-m2070", "gsi", "hopper-like"}) {
    CAPTURE(name);
    const ProbeResult& result = implicit_on(name);
    for (const auto* const copy : {"scratchpad", "stash"}) {
      CAPTURE(copy);
      double least = 1.0;
      for (const int entries : {32, 256}) {
        const std::string bar =
            "implicit, " + std::string(copy) + ", " + std::to_string(entries) + " MSHRs";
        double share = 0.0;
        for (const Finding& each : result.findings) {
          const bool is_full = each.series == bar && each.method == stack_view_gsi &&
                               each.label == "memory structural: full MSHR";
          if (is_full) share = *each.value;
        }
        CHECK(share <= least);
        least = share;
      }
    }
  }
}

}  // namespace clprobe::gsi
