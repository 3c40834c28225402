// SPDX-License-Identifier: Apache-2.0
// Waits for locks by a warp's own clock, compared with the waits that the simulator counts. The
// probe `stalls` measures such waits by clocks on real devices, which have no counters. An attempt
// that finds no work counts as a wait.
#include <doctest/doctest.h>

#include <map>
#include <utility>
#include <vector>

#include "probes/gsi/cases.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::gsi {
namespace {

namespace cause = simulator::cause;
using simulator::ClockRead;
using simulator::Machine;
using simulator::Operation;
using simulator::Program;
using simulator::read_clock;
using simulator::Trace;
using simulator::WarpState;

constexpr std::uint32_t before_lock = 0;
constexpr std::uint32_t behind_lock = 1;
constexpr std::uint32_t has_work = 2;  ///< tasks were read or written

/// Returns a search whose warps read a clock before and after each acquire, and on finding work.
Trace with_clocks(const Machine& machine, const TreeSearch& search) {
  Trace trace = make_tree_search(machine, search);
  for (Program& program : trace.programs) {
    if (program.front().operation == Operation::acquire) {
      program.insert(program.begin() + 1, read_clock(behind_lock));
      program.insert(program.begin(), read_clock(before_lock));
    } else if (program.back().operation == Operation::store) {
      program.insert(program.begin(), read_clock(has_work));
    }
  }
  return trace;
}

struct Waits {
  double all{0.0};
  double in_vain{0.0};  ///< cycles of waits after which the queue had no work
};

std::map<std::uint32_t, Waits> waits_by_warp(const std::vector<ClockRead>& reads) {
  struct Last {
    std::uint64_t asked{0};
    double waited{0.0};
  };
  std::map<std::uint32_t, Last> last;
  std::map<std::uint32_t, Waits> waits;
  for (const ClockRead& read : reads) {
    Last& own = last[read.warp];
    if (read.id == before_lock) {
      own.asked = read.cycle;
    } else if (read.id == behind_lock) {
      own.waited = static_cast<double>(read.cycle - own.asked);
      waits[read.warp].all += own.waited;
      waits[read.warp].in_vain += own.waited;
    } else {
      waits[read.warp].in_vain -= std::exchange(own.waited, 0.0);
    }
  }
  return waits;
}

/// The cycles that each warp waits in acquires, as an observer counts them, and the clock reads.
struct Counted {
  std::map<std::uint32_t, double> acquires{};
  std::vector<ClockRead> reads{};
};

Counted count_acquires(const Machine& machine, const TreeSearch& search) {
  Counted counted;
  simulator::Observer observer;
  observer.cycles = [&](const simulator::CycleState& state) {
    for (const WarpState& warp : state.warps) {
      const bool waits = (warp.causes & cause::acquire) != 0;
      if (waits) counted.acquires[warp.number] += static_cast<double>(state.cycles);
    }
  };
  const std::vector<const simulator::Observer*> observers(search.units, &observer);
  counted.reads =
      sum_of(simulate_units(machine, with_clocks(machine, search), search.units, {}, observers))
          .clock_reads;
  return counted;
}

}  // namespace

TEST_CASE("a clock around every acquire finds the synchronization that the simulator counts") {
  for (const TaskQueues queues : {TaskQueues::one, TaskQueues::per_unit}) {
    CAPTURE(to_word(queues));
    const Machine machine =
        adapt(simulator::preset("gsi"), simulator::Coherence::gpu, thesis_mshrs[0]);
    const TreeSearch search{.queues = queues, .nodes = 150, .units = 3};
    const Counted all = count_acquires(machine, search);
    const auto waits = waits_by_warp(all.reads);
    REQUIRE(waits.size() == all.acquires.size());
    double in_vain = 0.0;
    double counted_in_all = 0.0;
    for (const auto& [warp, counted] : all.acquires) {
      // The clock also counts the issue of the acquire and of the clock read. The clock counts the
      // time in the load/store unit's queue too, which the simulator counts as a structural stall.
      CHECK(waits.at(warp).all == doctest::Approx(counted).epsilon(0.06));
      CHECK(waits.at(warp).all >= counted);
      in_vain += waits.at(warp).in_vain;
      counted_in_all += counted;
    }
    MESSAGE("in vain: " << in_vain / counted_in_all << " of the waits");
    // With one queue, waits that find no work are more than 5 % of all waits, so they must not be
    // hidden as idle time.
    if (queues == TaskQueues::one) CHECK(in_vain > 0.05 * counted_in_all);
  }
}

}  // namespace clprobe::gsi
