// SPDX-License-Identifier: Apache-2.0
// What the tests of gsi ask it for, and the bars of the thesis by the pure functions alone, with
// the latencies that clprobe draws by default.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "clprobe/budget.hpp"
#include "clprobe/probe.hpp"
#include "probes/gsi/cases.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::gsi {

extern const Probe probe;

inline Request request_for(std::vector<std::string> cases) {
  Request request;
  request.own.set("case", std::move(cases));
  return request;
}

inline simulator::Options default_options() { return {.seed = Budget{}.seed}; }

/// uts and utsd, each under plain GPU coherence and under ownership, in this order.
inline std::vector<CaseRun> run_tree_searches(TreeSearch search = {}) {
  std::vector<CaseRun> runs;
  for (const TaskQueues queues : {TaskQueues::one, TaskQueues::per_unit}) {
    for (const auto coherence : {simulator::Coherence::gpu, simulator::Coherence::ownership}) {
      const simulator::Machine machine = adapt(simulator::preset("gsi"), coherence, 32);
      search.queues = queues;
      const simulator::GridAccount account = account_units(
          machine, make_tree_search(machine, search), search.units, default_options());
      runs.push_back({bar_name(queues, coherence), account.mean});
      for (const auto& unit : account.units) runs.back().units.push_back(unit.gsi);
    }
  }
  return runs;
}

/// Scratchpad, scratchpad with DMA, stash; each with 32, 64, 128, 256 MSHRs, in this order.
inline std::vector<CaseRun> run_implicit() {
  std::vector<CaseRun> runs;
  for (const auto& copy : local_copy_words) {
    for (const std::uint64_t entries : thesis_mshrs) {
      const simulator::Machine machine =
          adapt(simulator::preset("gsi"), simulator::Coherence::ownership, entries);
      runs.push_back({bar_name(copy.value, entries),
                      account_stalls(machine, make_implicit(machine, {.copy = copy.value}),
                                     default_options())});
    }
  }
  return runs;
}

}  // namespace clprobe::gsi
