// SPDX-License-Identifier: Apache-2.0
// How many loads a sub-group can have, from the least times of curves.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "probes/inflight/thread_latency.hpp"

namespace clprobe::inflight {
namespace {

/// Returns the curves of one target. `latencies` maps loads per work-item to the time of two
/// work-items, in latencies.
std::vector<CurveFinding> curves(const std::map<int, double>& latencies,
                                 const std::string& target = "memory") {
  std::vector<CurveFinding> all;
  for (const auto& [loads, latency] : latencies) {
    CurveFinding curve;
    curve.pattern = {loads, 1, MergerMode::within, target};
    curve.latency_cycles = 400.0 * latency;
    curve.min_work_items = 2;
    curve.min_requests = 100;
    curve.min_instructions = 20;
    all.push_back(curve);
  }
  return all;
}

TEST_CASE("one load more than a sub-group can have takes a latency more") {
  const auto four = find_sub_group_loads(curves({{1, 1}, {2, 1}, {3, 1}, {4, 1.02}, {8, 2}}));
  REQUIRE(four.loads);
  CHECK(*four.loads == CountRange{4, 7});
  CHECK(four.at_least == 4);
  const auto exact = find_sub_group_loads(
      curves({{1, 1}, {2, 1}, {3, 1}, {4, 1.02}, {5, 1.98}, {6, 1.99}, {7, 2}, {8, 2}}));
  REQUIRE(exact.loads);
  CHECK(*exact.loads == CountRange{4, 4});
  const auto one = find_sub_group_loads(curves({{1, 1}, {2, 2}, {3, 3}}));
  REQUIRE(one.loads);
  CHECK(*one.loads == CountRange{1, 1});
}

TEST_CASE("loads that take longer to issue are no limit") {
  // Each additional load takes a tenth of a latency to issue, up to 8 loads.
  const auto slow = find_sub_group_loads(curves({{1, 1}, {2, 1.1}, {3, 1.2}, {4, 1.3}, {8, 1.69}}));
  CHECK_FALSE(slow.loads);
  CHECK(slow.at_least == 3);
  CHECK(slow.reason.empty());
  const auto none = find_sub_group_loads(curves({{1, 1}, {2, 1}, {4, 1.1}, {8, 1.24}}));
  CHECK_FALSE(none.loads);
  CHECK(none.at_least == 8);
  // A time of 1.71 latencies shows a limit. 3 loads take 1.26 latencies, more than 1.25, so that
  // the limit may be 2 or 3 loads.
  const auto open = find_sub_group_loads(curves({{1, 1}, {2, 1.24}, {3, 1.26}, {4, 1.71}}));
  REQUIRE(open.loads);
  CHECK(*open.loads == CountRange{2, 3});
}

TEST_CASE("a pool or a table of the compute unit is no limit of a sub-group") {
  const std::map<int, double> doubled{{1, 1}, {4, 1}, {5, 2}};
  for (const auto& [requests, instructions] :
       {std::pair(9, 20), std::pair(100, 4), std::pair(9, 4)}) {
    std::vector<CurveFinding> all = curves(doubled);
    for (CurveFinding& each : all) {
      each.min_requests = requests;
      each.min_instructions = instructions;
    }
    const auto found = find_sub_group_loads(all);
    CHECK_FALSE(found.loads);
    CHECK(found.at_least == 4);
    CHECK(found.reason.find("The limit is possibly that of the compute unit") != std::string::npos);
  }
  // The requests and instructions in flight, 10 and 5, equal those of the loads that wait: 2
  // work-items with 5 loads.
  std::vector<CurveFinding> all = curves(doubled);
  for (CurveFinding& each : all) each.min_requests = 10, each.min_instructions = 5;
  CHECK(find_sub_group_loads(all).loads);
}

TEST_CASE("targets narrow each other, and two that disagree say nothing") {
  const auto both = [](const std::map<int, double>& a, const std::map<int, double>& b) {
    std::vector<CurveFinding> all = curves(a, "cache");
    for (CurveFinding& each : curves(b, "memory")) all.push_back(each);
    return find_sub_group_loads(all);
  };
  const auto narrowed = both({{1, 1}, {2, 1}, {4, 2}}, {{1, 1}, {3, 1}, {8, 2}});
  REQUIRE(narrowed.loads);
  CHECK(*narrowed.loads == CountRange{3, 3});
  const auto apart = both({{1, 1}, {2, 1}, {3, 2}}, {{1, 1}, {8, 1}});
  CHECK_FALSE(apart.loads);
  CHECK(apart.at_least == 0);
  CHECK(apart.reason.find("disagree") != std::string::npos);
}

TEST_CASE("curves with mergers, without a single load, or that fall again say nothing") {
  CHECK(find_sub_group_loads({}).at_least == 0);
  CHECK(find_sub_group_loads(curves({{4, 1}, {8, 2}})).at_least == 0);
  CHECK_FALSE(find_sub_group_loads(curves({{1, 1}, {2, 2}, {4, 1}})).loads);
  std::vector<CurveFinding> merged = curves({{1, 1}, {2, 1}, {4, 2}});
  for (CurveFinding& each : merged) each.pattern.merger = 2;
  CHECK(find_sub_group_loads(merged).at_least == 0);
}

}  // namespace
}  // namespace clprobe::inflight
