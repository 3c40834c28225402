// SPDX-License-Identifier: Apache-2.0
// Bars of compute units, of sub-groups and of windows of the time: all together they are the bar.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/engine.hpp"
#include "clprobe/registry.hpp"
#include "clprobe/simulated.hpp"
#include "clprobe/stacks.hpp"
#include "clprobe/trace_file.hpp"
#include "probes/gsi/account.hpp"
#include "unit/gsi_runs.hpp"
#include "unit/trace_text.hpp"

namespace clprobe::gsi {
namespace {

using Cycles = std::map<std::string, double>;  // by part

ProbeResult measured(Request request) {
  request.own.set("view", std::vector<std::string>{"units", "sub-groups", "timeline"});
  const auto backend = simulated_backend(simulator::preset("gsi"), 1, request.traces);
  Budget budget;
  budget.probe_time = std::chrono::hours(1);  // a slow host changes nothing
  return measure(probe, *backend, request, budget, {});
}

Request search_request() {
  Request request = request_for({"utsd", "compute"});
  request.own.set("set", std::vector<std::string>{"nodes=128"});
  request.own.set("units", std::uint64_t{3});
  return request;
}

void add_cycles(const Stack& stack, double share, Cycles& sums) {
  for (const StackPart& part : stack.parts) sums[part.label] += share * part.share * *stack.time;
}

std::vector<Stack> parts_of(const std::string& bar, std::string_view view,
                            const std::vector<Stack>& stacks) {
  std::vector<Stack> parts;
  std::copy_if(stacks.begin(), stacks.end(), std::back_inserter(parts), [&](const Stack& each) {
    return each.view == view && split_bar(each.bar).kernel == bar;
  });
  return parts;
}

void check_same(const Cycles& sums, const Cycles& whole) {
  for (const auto& each : whole) {
    CAPTURE(each.first);
    const auto found = sums.find(each.first);
    REQUIRE(found != sums.end());
    CHECK(found->second == doctest::Approx(each.second).epsilon(1e-9));
  }
  CHECK(sums.size() == whole.size());
}

/// How many bars had units.
int check_parts(const ProbeResult& result) {
  REQUIRE(result.status == Status::ok);
  int with_units = 0;
  const std::vector<Stack> stacks = stacks_in(result.findings);
  for (const Stack& bar : stacks) {
    if (bar.view != stack_view_gsi) continue;
    CAPTURE(bar.bar);
    Cycles whole;
    add_cycles(bar, 1.0, whole);
    const auto windows = parts_of(bar.bar, stack_view_timeline, stacks);
    CHECK(windows.size() >= 24);
    CHECK(windows.size() <= 48);
    Cycles over_time;
    for (const Stack& each : windows) add_cycles(each, 1.0, over_time);
    check_same(over_time, whole);
    const auto units = parts_of(bar.bar, stack_view_units, stacks);
    Cycles of_units;
    for (const Stack& each : units) {
      add_cycles(each, 1.0 / static_cast<double>(units.size()), of_units);
    }
    if (!units.empty()) check_same(of_units, whole);
    with_units += units.empty() ? 0 : 1;
    for (const Stack& each : parts_of(bar.bar, stack_view_sub_groups, stacks)) {
      CAPTURE(each.bar);
      double all = 0.0;
      for (const StackPart& part : each.parts) all += part.share;
      CHECK(all == doctest::Approx(1.0).epsilon(1e-9));
      CHECK(each.time == bar.time);
    }
  }
  return with_units;
}

std::size_t bars_of(std::string_view bar, std::string_view view, const ProbeResult& result) {
  return parts_of(std::string(bar), view, stacks_in(result.findings)).size();
}

}  // namespace

TEST_CASE("windows and units add up to the bar, and each sub-group has the whole time") {
  const ProbeResult result = measured(search_request());
  CHECK(check_parts(result) == 3);
  CHECK(bars_of("utsd, GPU coherence", stack_view_units, result) == 3);
  CHECK(bars_of("utsd, GPU coherence", stack_view_sub_groups, result) == 12);
  CHECK(bars_of("compute, tail", stack_view_units, result) == 2);
  CHECK(bars_of("compute, chain", stack_view_units, result) == 0);
  // The half of the work is done when the other unit is half way.
  for (const Stack& each : stacks_in(result.findings)) {
    if (each.bar != "compute, tail, unit 0" && each.bar != "compute, tail, unit 1") continue;
    const auto idle = std::find_if(each.parts.begin(), each.parts.end(),
                                   [](const StackPart& part) { return part.label == "idle"; });
    CHECK((idle == each.parts.end() || idle->share > 0.4));
  }
}

TEST_CASE("a trace has the same views, and many sub-groups are drawn together") {
  const simulator::Machine machine = simulator::preset("gsi");
  const std::string text = simulator::to_text(
      {.kernel = "copies",
       .trace = make_implicit(machine, {.copy = LocalCopy::stash, .groups = 40})});
  Request request;
  request.own.set("trace", std::vector<std::string>{"some.trace"});
  request.traces.push_back(
      {.path = "some.trace",
       .sha256 = std::string(64, 'a'),
       .file = std::make_shared<const simulator::TraceFile>(simulator::read_trace_file(text))});
  const ProbeResult result = measured(request);
  CHECK(check_parts(result) == 0);
  // 160 sub-groups, three a bar.
  CHECK(bars_of("copies", stack_view_sub_groups, result) == 54);
}

TEST_CASE("what was not asked for is not there, and what does not add up neither") {
  Request request = search_request();
  const ProbeResult result = measured(request);
  Point point = result.points.front();
  CaseRun run{.name = point.series};
  run.account.result.cycles = static_cast<std::uint64_t>(point.facts.integer_or("cycles", 0));
  run.account.flush_cycles = static_cast<std::uint64_t>(point.facts.integer_or("flush_cycles", 0));
  CHECK_FALSE(details_in(point, run, "timeline").empty());
  CHECK_FALSE(details_in(point, run, "sub-groups").empty());
  Point edited = point;
  edited.facts.set("window_0_flush_cycles", std::int64_t{1});
  CHECK(details_in(edited, run, "timeline").empty());
  edited.facts.set("sub_group_0_idle_cycles", std::int64_t{1 << 30});
  CHECK(details_in(edited, run, "sub-groups").empty());
  point.parameters.set("views", std::string("units"));
  CHECK(details_in(point, run, "timeline").empty());
  CHECK(details_in(point, run, "sub-groups").empty());
}

}  // namespace clprobe::gsi
