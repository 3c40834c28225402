// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace clprobe::gsi {
namespace {

namespace cause = simulator::cause;
using simulator::Breakdown;
using simulator::Coherence;
using simulator::Stall;

double ratio(double here, double before) {
  return before == 0.0 ? std::numeric_limits<double>::quiet_NaN() : here / before;
}

double time_of(const CaseRun& run) { return static_cast<double>(run.account.result.cycles); }

std::vector<std::string> search_names() {
  std::vector<std::string> names;
  for (const auto& queues : task_queues_words) {
    for (const Coherence coherence : {Coherence::gpu, Coherence::ownership}) {
      names.push_back(bar_name(queues.value, coherence));
    }
  }
  return names;
}

std::vector<std::string> implicit_names() {
  std::vector<std::string> names;
  for (const auto& copy : local_copy_words) {
    for (const std::uint64_t entries : thesis_mshrs) {
      names.push_back(bar_name(copy.value, entries));
    }
  }
  return names;
}

/// The runs with these names, in this order; none when one is missing.
std::vector<CaseRun> runs_called(const std::vector<CaseRun>& runs,
                                 const std::vector<std::string>& names) {
  std::vector<CaseRun> found;
  for (const std::string& name : names) {
    const auto run = std::find_if(runs.begin(), runs.end(),
                                  [&](const CaseRun& each) { return each.name == name; });
    if (run == runs.end()) return {};
    found.push_back(*run);
  }
  return found;
}

/// `runs`: in the order of search_names().
std::vector<CaseChange> compare_tree_searches(const std::vector<CaseRun>& runs) {
  const CaseRun& uts = runs.at(0);
  const CaseRun& uts_owning = runs.at(1);
  const CaseRun& utsd = runs.at(2);
  const CaseRun& utsd_owning = runs.at(3);
  const auto change = [&](Stall stall) {
    return ratio(utsd_owning.account.gsi.of(stall), utsd.account.gsi.of(stall));
  };
  const auto release_share = [](const CaseRun& run) {
    return run.account.gsi.of(cause::pending_release) / time_of(run);
  };
  return {
      {"time, utsd against uts, GPU coherence", 0.09, ratio(time_of(utsd), time_of(uts))},
      {"time, utsd against uts, ownership", 0.06, ratio(time_of(utsd_owning), time_of(uts_owning))},
      {"time, utsd, ownership against GPU coherence", 0.72,
       ratio(time_of(utsd_owning), time_of(utsd))},
      {"memory structural stalls, utsd, ownership against GPU coherence", 0.29,
       change(Stall::memory_structural)},
      {"memory data stalls, utsd, ownership against GPU coherence", 0.43,
       change(Stall::memory_data)},
      {"pending release as a share of the time, utsd, GPU coherence", 0.10, release_share(utsd)},
      {"pending release as a share of the time, utsd, ownership", 0.04, release_share(utsd_owning)},
  };
}

/// `runs`: in the order of implicit_names().
std::vector<CaseChange> compare_implicit(const std::vector<CaseRun>& runs) {
  const auto gsi = [&](std::size_t copy, std::size_t size) -> const Breakdown& {
    return runs.at(copy * std::size(thesis_mshrs) + size).account.gsi;
  };
  const std::size_t last = std::size(thesis_mshrs) - 1;
  const auto against_scratchpad = [&](std::size_t copy, Stall stall) {
    return ratio(gsi(copy, 0).of(stall), gsi(0, 0).of(stall));
  };
  constexpr auto pending_dma = cause::pending_copy;
  return {
      {"no stall, DMA against scratchpad", 0.64, against_scratchpad(1, Stall::none)},
      {"no stall, stash against scratchpad", 0.69, against_scratchpad(2, Stall::none)},
      {"memory structural stalls, DMA against scratchpad", 1.67,
       against_scratchpad(1, Stall::memory_structural)},
      {"memory structural stalls, stash against scratchpad", 1.34,
       against_scratchpad(2, Stall::memory_structural)},
      {"full MSHR, scratchpad, 256 MSHRs against 32", 0.0,
       ratio(gsi(0, last).of(cause::full_mshr),
             gsi(0, 0).of(cause::full_mshr))},
      {"memory data stalls, scratchpad, 256 MSHRs against 32", 13.0,
       ratio(gsi(0, last).of(Stall::memory_data), gsi(0, 0).of(Stall::memory_data))},
      {"pending DMA, DMA, 256 MSHRs against 32", 8.9,
       ratio(gsi(1, last).of(pending_dma), gsi(1, 0).of(pending_dma))},
      {"memory data stalls, stash, 256 MSHRs against 32", 2.1,
       ratio(gsi(2, last).of(Stall::memory_data), gsi(2, 0).of(Stall::memory_data))},
  };
}

}  // namespace

simulator::Machine adapt(simulator::Machine machine, Coherence coherence,
                         std::uint64_t mshr_entries) {
  machine.sharing.coherence = coherence;
  if (mshr_entries == 0) return machine;
  machine.pending.entries = mshr_entries;
  machine.store_buffer.entries = mshr_entries;
  return machine;
}

std::string bar_name(TaskQueues queues, Coherence coherence, std::uint64_t mshr_entries) {
  std::string name = fmt::format("{}, {}", to_word(queues),
                                 coherence == Coherence::gpu ? "GPU coherence" : "ownership");
  if (mshr_entries != 0) name += fmt::format(", {} MSHRs", mshr_entries);
  return name;
}

std::string bar_name(LocalCopy copy, std::uint64_t mshr_entries) {
  if (mshr_entries == 0) return fmt::format("implicit, {}", to_word(copy));
  return fmt::format("implicit, {}, {} MSHRs", to_word(copy), mshr_entries);
}

std::string bar_name(ComputeWork work) { return fmt::format("compute, {}", to_word(work)); }

std::vector<CaseChange> compare_with_thesis(const std::vector<CaseRun>& runs) {
  std::vector<CaseChange> changes;
  if (const auto found = runs_called(runs, search_names()); !found.empty()) {
    changes = compare_tree_searches(found);
  }
  if (const auto found = runs_called(runs, implicit_names()); !found.empty()) {
    const std::vector<CaseChange> more = compare_implicit(found);
    changes.insert(changes.end(), more.begin(), more.end());
  }
  return changes;
}

}  // namespace clprobe::gsi
