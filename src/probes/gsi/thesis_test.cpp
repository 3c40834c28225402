// SPDX-License-Identifier: Apache-2.0
// Searches of the default size, compared with numbers of the thesis. Under sanitizers, searches
// have a quarter of the nodes, and the tests mainly check signs: the beginning and the end of a
// search have a larger share of its time.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "unit/gsi_runs.hpp"
#include "unit/rounds.hpp"

namespace clprobe::gsi {
namespace {

namespace cause = simulator::cause;
using simulator::Breakdown;
using simulator::Level;
using simulator::Stall;

constexpr int quarters = 4;

bool is_whole() { return rounds(quarters) == quarters; }

/// Returns the runs of uts and then utsd, each first under GPU coherence and then under ownership.
const std::vector<CaseRun>& thesis_searches() {
  static const std::vector<CaseRun> runs = [] {
    TreeSearch search;
    search.nodes = search.nodes * static_cast<std::uint64_t>(rounds(quarters)) / quarters;
    return run_tree_searches(search);
  }();
  return runs;
}
const Breakdown& gsi(std::size_t run) { return thesis_searches().at(run).account.gsi; }
double time_of(std::size_t run) {
  return static_cast<double>(thesis_searches().at(run).account.result.cycles);
}

}  // namespace

TEST_CASE("the searches' ratios are within 25 % of the thesis's") {
  for (const CaseChange& each : compare_with_thesis(thesis_searches())) {
    CAPTURE(each.what);
    CHECK((each.thesis < 1.0) == (each.here < 1.0));
    if (is_whole()) CHECK(std::abs(each.here / each.thesis - 1.0) <= 0.25);
  }
}

TEST_CASE("who owns lines elsewhere: remote lines in uts, hardly any in utsd") {
  CHECK(gsi(0).of(Level::remote_l1) == 0.0);
  CHECK(gsi(1).of(Level::remote_l1) > 0.3 * gsi(1).of(Stall::memory_data));
  // A small tree has more of its nodes near the root, where units exchange nodes.
  const double few = is_whole() ? 0.1 : 0.2;
  CHECK(gsi(3).of(Level::remote_l1) < few * gsi(1).of(Level::remote_l1));
  CHECK(gsi(3).of(Level::remote_l1) < (is_whole() ? 0.08 : 0.2) * gsi(3).of(Stall::memory_data));
  if (!is_whole()) return;
  CHECK(gsi(1).of(cause::pending_release) > gsi(0).of(cause::pending_release));
}

TEST_CASE("with one queue there is very little difference between both coherences") {
  // bench/thesis.py has the same limit of 10 %. With other seeds of the latencies, the difference
  // is up to 11.2 %.
  CHECK(std::abs(time_of(1) / time_of(0) - 1.0) <= 0.1);
}

TEST_CASE("main memory's stalls stay, give or take a quarter") {
  const double change = gsi(3).of(Level::memory) / gsi(2).of(Level::memory);
  CHECK(std::abs(change - 1.0) < (is_whole() ? 0.25 : 0.35));
}

}  // namespace clprobe::gsi
