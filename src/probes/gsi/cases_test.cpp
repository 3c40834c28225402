// SPDX-License-Identifier: Apache-2.0
// Signs and orderings that the thesis reports for its two case studies, and checks of the results
// that the cases compute. tests/seeds/2-gsi.toml lists the statements that clprobe does not
// reproduce.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "simulation/api/simulator.hpp"
#include "unit/gsi_runs.hpp"

namespace clprobe::gsi {
namespace {

namespace cause = simulator::cause;
using simulator::Breakdown;
using simulator::Coherence;
using simulator::Level;
using simulator::Machine;
using simulator::Operation;
using simulator::Stall;
using simulator::Trace;

// Fewer nodes than the default, to save time. The beginning and the end of a search therefore have
// a larger share of its time. docs/seeds.md reports results for the default.
constexpr TreeSearch small_search{.nodes = 3000};

const std::vector<CaseRun>& searches() {
  static const std::vector<CaseRun> runs = run_tree_searches(small_search);
  return runs;
}
const std::vector<CaseRun>& implicit_runs() {
  static const std::vector<CaseRun> runs = run_implicit();
  return runs;
}
double time_of(const CaseRun& run) { return static_cast<double>(run.account.result.cycles); }
const Breakdown& gsi(const CaseRun& run) { return run.account.gsi; }

/// Returns GSI's view of a run of `implicit`. `copy`: 0 scratchpad, 1 DMA, 2 stash. `size`: 0 to 3
/// for 32, 64, 128 and 256 MSHRs.
const Breakdown& implicit_gsi(std::size_t copy, std::size_t size) {
  return gsi(implicit_runs().at(copy * 4 + size));
}

}  // namespace

TEST_CASE("one queue for all: synchronization is most of the time, and coherence makes no odds") {
  const CaseRun& plain = searches()[0];
  const CaseRun& owning = searches()[1];
  CHECK(plain.name == "uts, GPU coherence");
  CHECK(owning.name == "uts, ownership");
  for (const CaseRun* run : {&plain, &owning}) {
    CHECK(gsi(*run).of(Stall::synchronization) > 0.5 * time_of(*run));
  }
  CHECK(std::abs(time_of(owning) / time_of(plain) - 1.0) <= 0.1);
  // Only under ownership, lines that another unit wrote last come from that unit's L1.
  CHECK(gsi(plain).of(Level::remote_l1) == 0.0);
  CHECK(gsi(owning).of(Level::remote_l1) > 0.0);
  // Taking ownership of a line that another unit owns takes longer, which prolongs releases.
  CHECK(gsi(owning).of(cause::release) > gsi(plain).of(cause::release));
}

TEST_CASE("a queue for each compute unit takes less time, less waiting and less spinning") {
  for (const std::size_t coherence : {0U, 1U}) {
    const CaseRun& one = searches()[coherence];
    const CaseRun& each = searches()[coherence + 2];
    CAPTURE(each.name);
    CHECK(time_of(each) < 0.3 * time_of(one));
    // Synchronization still takes a significant share with a queue for each unit.
    CHECK(gsi(each).of(Stall::synchronization) > 0.2 * time_of(each));
    CHECK(gsi(each).of(Stall::synchronization) < gsi(one).of(Stall::synchronization));
    CHECK(gsi(each).of(Stall::none) < gsi(one).of(Stall::none));
    const auto memory_share = [](const CaseRun& run) {
      return (gsi(run).of(Stall::memory_data) + gsi(run).of(Stall::memory_structural)) /
             time_of(run);
    };
    CHECK(memory_share(each) > memory_share(one));
  }
  const auto changes = compare_with_thesis(searches());
  // In the thesis, separate queues save 94 % of the time under ownership, and 91 % under GPU
  // coherence.
  CHECK(changes[1].here < changes[0].here);
}

TEST_CASE("with a queue for each, ownership has less of everything that coherence costs") {
  const CaseRun& plain = searches()[2];
  const CaseRun& owning = searches()[3];
  CHECK(time_of(owning) < time_of(plain));
  CHECK(gsi(owning).of(Stall::memory_data) < gsi(plain).of(Stall::memory_data));
  CHECK(gsi(owning).of(Stall::memory_structural) < gsi(plain).of(Stall::memory_structural));
  CHECK(gsi(owning).of(cause::pending_release) / time_of(owning) <
        gsi(plain).of(cause::pending_release) / time_of(plain));
  // Most of the decrease in data stalls is in data from the second level. Stalls on data from main
  // memory hardly change.
  const auto fall = [&](Level level) { return gsi(plain).of(level) - gsi(owning).of(level); };
  CHECK(fall(Level::l2) >
        0.5 * (gsi(plain).of(Stall::memory_data) - gsi(owning).of(Stall::memory_data)));
  CHECK(std::abs(fall(Level::memory)) < 0.3 * gsi(plain).of(Level::memory));
  // Waits for data from another compute unit's L1 take less than 10 % of the time.
  CHECK(gsi(owning).of(Level::remote_l1) < 0.1 * time_of(owning));
}

TEST_CASE("what if: an S-FIFO ends pending releases, and owned atomics make own locks cheap") {
  const auto run = [](simulator::Coherence coherence, simulator::Synchronization what_if) {
    Machine machine = adapt(simulator::preset("gsi"), coherence, 32);
    machine.synchronization = what_if;
    TreeSearch search{.queues = TaskQueues::per_unit, .nodes = 546, .units = 1};
    return CaseRun{"utsd", account_stalls(machine, make_tree_search(machine, search))};
  };
  for (const auto coherence : {Coherence::gpu, Coherence::ownership}) {
    const CaseRun plain = run(coherence, {});
    const CaseRun fifo = run(coherence, {.stores_pass_releases = true});
    const CaseRun owned = run(coherence, {.owns_atomics = true});
    CHECK(gsi(plain).of(cause::pending_release) > 0.0);
    CHECK(gsi(fifo).of(cause::pending_release) == 0.0);
    // The order in which units get the locks changes as well, which may offset a part of the
    // savings.
    CHECK(time_of(fifo) < 1.02 * time_of(plain));
    CHECK(time_of(owned) < time_of(plain));
    CHECK(gsi(owned).of(Stall::synchronization) < gsi(plain).of(Stall::synchronization));
  }
}

TEST_CASE("a search visits every node once, by however many, and anew each time") {
  struct Shape {
    std::uint64_t units, warps, nodes;
    Polls polls_by;
  };
  const Machine machine = adapt(simulator::preset("gsi"), Coherence::ownership, 32);
  for (const TaskQueues queues : {TaskQueues::one, TaskQueues::per_unit}) {
    for (const Shape& shape : {Shape{1, 1, 1, Polls::warp}, Shape{1, 3, 60, Polls::warp},
                               Shape{3, 1, 2, Polls::warp}, Shape{3, 3, 200, Polls::warp},
                               Shape{16, 4, 600, Polls::warp}, Shape{1, 1, 20, Polls::group},
                               Shape{2, 4, 200, Polls::group}, Shape{3, 16, 300, Polls::group}}) {
      CAPTURE(to_word(queues));
      CAPTURE(shape.units);
      CAPTURE(shape.nodes);
      const TreeSearch search{.queues = queues,
                              .nodes = shape.nodes,
                              .units = shape.units,
                              .warps = shape.warps,
                              .polls_by = shape.polls_by};
      Trace trace = make_tree_search(machine, search);
      std::multiset<std::uint64_t> visited;
      trace.next_program = [&, inner = trace.next_program](std::uint32_t warp,
                                                           std::uint64_t cycle) {
        const std::uint32_t next = inner(warp, cycle);
        // A program that starts with a load and has more than four instructions is the work on a
        // node.
        const bool is_work = next < trace.programs.size() &&
                             trace.programs[next][0].operation == Operation::load &&
                             trace.programs[next].size() > 4;
        CHECK(node_of(search, next).has_value() == is_work);
        if (is_work) visited.insert(*node_of(search, next));
        return next;
      };
      const auto first = simulate_units(machine, trace, search.units);
      CHECK(visited.size() == search.nodes);
      CHECK(std::set<std::uint64_t>(visited.begin(), visited.end()).size() == search.nodes);
      CHECK(simulate_units(machine, make_tree_search(machine, search), search.units) == first);
    }
  }
}

TEST_CASE("units are not equal: who has the lock's line near has it more often") {
  for (const CaseRun& run : searches()) {
    CAPTURE(run.name);
    REQUIRE(run.units.size() == 15);
    double least = 1e9;
    double most = 0.0;
    double sum = 0.0;
    for (const Breakdown& unit : run.units) {
      const auto all =
          static_cast<double>(run.account.result.cycles - run.account.result.flush_cycles);
      CHECK(unit.total() == doctest::Approx(all));
      least = std::min(least, unit.of(Stall::none));
      most = std::max(most, unit.of(Stall::none));
      sum += unit.of(Stall::none);
    }
    CHECK(most > 1.05 * least);
    CHECK(sum / 15.0 == doctest::Approx(gsi(run).of(Stall::none)));
    CHECK(gsi(run).of(Stall::idle) > 0.0);
  }
}

TEST_CASE("what if: back-off, and a group that polls in place of its warps, spin less") {
  const auto run = [](TreeSearch search) {
    search.nodes = 1000;
    const Machine machine = adapt(simulator::preset("gsi"), Coherence::gpu, 32);
    return account_units(machine, make_tree_search(machine, search), search.units).mean;
  };
  const auto plain = run({});
  const auto backing = run({.backoff_cycles = 1000});
  const auto grouped = run({.polls_by = Polls::group});
  CHECK(backing.result.warp_instructions < plain.result.warp_instructions);
  CHECK(grouped.result.warp_instructions < plain.result.warp_instructions);
  CHECK(grouped.result.cycles < plain.result.cycles);
  CHECK(grouped.gsi.of(cause::barrier) > 0.0);
  CHECK(plain.gsi.of(cause::barrier) == 0.0);
}

TEST_CASE("implicit: both kinds of copy save instructions and time, and stall more for structure") {
  const auto& scratchpad = implicit_gsi(0, 0);
  const auto& dma = implicit_gsi(1, 0);
  const auto& stash = implicit_gsi(2, 0);
  CHECK(dma.of(Stall::none) < stash.of(Stall::none));
  CHECK(stash.of(Stall::none) < scratchpad.of(Stall::none));
  CHECK(dma.of(Stall::memory_structural) > stash.of(Stall::memory_structural));
  CHECK(stash.of(Stall::memory_structural) > scratchpad.of(Stall::memory_structural));
  CHECK(time_of(implicit_runs()[4]) < time_of(implicit_runs()[0]));
  CHECK(time_of(implicit_runs()[8]) < time_of(implicit_runs()[0]));
  // The DMA engine bypasses the store buffer and the banks of the cache.
  CHECK(dma.of(cause::pending_copy) > 0.0);
  CHECK(dma.of(cause::full_store_buffer) == 0.0);
  CHECK(stash.of(cause::pending_copy) == 0.0);
  CHECK(scratchpad.of(cause::pending_copy) == 0.0);
}

TEST_CASE("implicit: the stash has more full store buffers and bank conflicts, both full MSHRs") {
  const auto& scratchpad = implicit_gsi(0, 0);
  const auto& stash = implicit_gsi(2, 0);
  for (const simulator::Causes each :
       {cause::full_mshr, cause::full_store_buffer, cause::bank_conflict}) {
    CAPTURE(static_cast<int>(each));
    CHECK(scratchpad.of(each) > 0.0);
    // The thesis has more full MSHRs for the stash than for the scratchpad. The simulator does not
    // reproduce this; docs/gsi.md reports the difference.
    const bool is_missed = each == cause::full_mshr;
    CHECK(stash.of(each) > (is_missed ? 0.0 : scratchpad.of(each)));
  }
}

TEST_CASE("implicit: the DMA's structural stalls are full MSHRs and pending DMA, not banks") {
  const auto& scratchpad = implicit_gsi(0, 0);
  const auto& dma = implicit_gsi(1, 0);
  CHECK(dma.of(cause::full_mshr) > 0.0);
  CHECK(dma.of(cause::pending_copy) > 0.0);
  CHECK(dma.of(cause::bank_conflict) < 0.1 * scratchpad.of(cause::bank_conflict));
  CHECK(dma.of(cause::full_mshr) + dma.of(cause::pending_copy) >
        0.9 * dma.of(Stall::memory_structural));
}

TEST_CASE("implicit: more MSHRs make all faster, and other stalls take the place of full ones") {
  for (const std::size_t copy : {0U, 1U, 2U}) {
    CAPTURE(copy);
    CHECK(time_of(implicit_runs()[copy * 4 + 3]) < time_of(implicit_runs()[copy * 4]));
    for (std::size_t size = 1; size < 4; ++size) {
      CHECK(implicit_gsi(copy, size).of(cause::full_mshr) <=
            implicit_gsi(copy, 0).of(cause::full_mshr));
    }
    CHECK(implicit_gsi(copy, 3).of(cause::full_mshr) <
          0.5 * implicit_gsi(copy, 0).of(cause::full_mshr));
  }
  CHECK(implicit_gsi(0, 0).of(cause::full_mshr) > 0.0);
  CHECK(implicit_gsi(0, 3).of(cause::full_mshr) == 0.0);
  const auto changes = compare_with_thesis(implicit_runs());
  const double scratchpad_data = changes[5].here;
  const double pending_dma = changes[6].here;
  const double stash_data = changes[7].here;
  CHECK(pending_dma > 1.0);
  CHECK(stash_data > 1.0);
  CHECK(scratchpad_data > stash_data);
}

TEST_CASE("the sizes beside the thesis's") {
  CHECK(compare_with_thesis(searches()).size() == 7);
  CHECK(compare_with_thesis(implicit_runs()).size() == 8);
  for (const auto& changes :
       {compare_with_thesis(searches()), compare_with_thesis(implicit_runs())}) {
    for (const CaseChange& each : changes) {
      MESSAGE(each.what << ": thesis " << each.thesis << ", here " << each.here);
      CHECK(std::isfinite(each.here));
      // The ratios are on the same side of 1 if the change has the sign that the thesis reports.
      CHECK((each.thesis < 1.0) == (each.here < 1.0));
    }
  }
}

}  // namespace clprobe::gsi
