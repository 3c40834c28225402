// SPDX-License-Identifier: Apache-2.0
// The two case studies of the thesis as traces for the simulator: unbalanced tree search, and the
// implicit microbenchmark; and a kernel that only computes, ours. Source: Alsop, GSI: A GPU stall
// inspector, 2016, chapter 6. Sizes that it does not give are assumptions, and stand with the
// cases. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/run.hpp"
#include "clprobe/words.hpp"
#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::gsi {

/// `uts`: one queue behind one lock for all compute units. `utsd`: a queue for each, and one for
/// all behind a second lock, for tasks that do not fit and for units that have none left.
enum class TaskQueues { one, per_unit };
inline constexpr Word<TaskQueues> task_queues_words[]{{TaskQueues::one, "uts"},
                                                      {TaskQueues::per_unit, "utsd"}};
inline std::string_view to_word(TaskQueues queues) { return word_in(task_queues_words, queues); }

/// Ways to work on a chunk of an array: copied to local memory and back by the warps; by a copy
/// engine; or loaded where it is used into a memory that is mapped to it.
enum class LocalCopy { scratchpad, scratchpad_dma, stash };
inline constexpr Word<LocalCopy> local_copy_words[]{
    {LocalCopy::scratchpad, "scratchpad"},
    {LocalCopy::scratchpad_dma, "scratchpad with DMA"},
    {LocalCopy::stash, "stash"}};
inline std::string_view to_word(LocalCopy copy) { return word_in(local_copy_words, copy); }

/// The waits of a kernel without memory accesses: a chain of results, of arithmetic and of special
/// functions; the pipelines of special functions, which all warps want; branches; and other compute
/// units, of which the longest has twice the work of the others.
enum class ComputeWork { chain, functions, branches, tail };
inline constexpr Word<ComputeWork> compute_work_words[]{
    {ComputeWork::chain, "chain"},
    {ComputeWork::functions, "special functions"},
    {ComputeWork::branches, "branches"},
    {ComputeWork::tail, "tail"}};
inline std::string_view to_word(ComputeWork work) { return word_in(compute_work_words, work); }

/// The warps that go to the queues: each for itself, or one of a work-group for all of its warps.
enum class Polls { warp, group };
inline constexpr Word<Polls> polls_words[]{{Polls::warp, "warp"}, {Polls::group, "group"}};

/// The thesis leaves these numbers open; bench/calibrate.py found them (docs/gsi.md).
struct TreeSearch {
  TaskQueues queues{TaskQueues::one};
  std::uint64_t nodes{16384};  ///< of the tree, for all compute units together
  std::uint64_t units{15};
  std::uint64_t warps{4};          ///< of a compute unit, which form a work-group
  std::uint64_t steps{16};         ///< of work on a node: each reads and writes its warp's state
  std::uint64_t operations{8};     ///< dependent operations of a step
  std::uint64_t state_lines{4};    ///< lines of a warp's state in memory; steps use them in turn
  std::uint64_t written_lines{2};  ///< lines of an inner node, which has two, that its work writes
  std::uint64_t local_capacity{32};  ///< tasks of a unit's own queue; half of it is pulled at once
  std::uint64_t backoff_cycles{0};   ///< from an attempt in vain to take a lock to the next one
  Polls polls_by{Polls::warp};
};

/// A search by `units` compute units that are simulated together, a work-group each. The trace
/// keeps the state of its queues: it is good for one simulation.
simulator::Trace make_tree_search(const simulator::Machine& machine, const TreeSearch& search);

/// The node that a program of the trace works on: 0 to nodes - 1, each at some time. Nothing for
/// programs that go to a queue.
std::optional<std::uint64_t> node_of(const TreeSearch& search, std::uint32_t program);

struct Implicit {
  LocalCopy copy{LocalCopy::scratchpad};
  std::uint64_t groups{6};               ///< work-groups; local memory holds some at a time
  std::uint64_t warps{4};                ///< of a work-group
  std::uint64_t elements{2};             ///< words of a work-item
  std::uint64_t object_bytes{32};        ///< distance of the elements, each of 4 bytes
  std::uint64_t address_operations{12};  ///< for a place in global memory; one in local memory
  std::uint64_t operations{16};          ///< on each element, one after the other
};

simulator::Trace make_implicit(const simulator::Machine& machine, const Implicit& implicit);

/// A work-group that only computes, for the types of stalls that the thesis's cases have little of.
simulator::Trace make_compute(const simulator::Machine& machine, ComputeWork work);
/// The number of compute units that are simulated together.
std::uint64_t units_of(ComputeWork work);

/// The numbers of MSHRs of the thesis.
inline constexpr std::uint64_t thesis_mshrs[]{32, 64, 128, 256};

/// `machine` with the changes of a case: its coherence, its MSHRs (0: its own) and, as in the
/// thesis, a store buffer of as many entries.
simulator::Machine adapt(simulator::Machine machine, simulator::Coherence coherence,
                         std::uint64_t mshr_entries = 0);

/// Limit of the default number of compute units in a search: one lock for hundreds of them takes
/// minutes to simulate.
inline constexpr std::uint64_t max_default_units = 16;

/// A bar's name: "utsd, ownership"; "implicit, stash, 256 MSHRs", without MSHRs "implicit, stash".
std::string bar_name(TaskQueues queues, simulator::Coherence coherence,
                     std::uint64_t mshr_entries = 0);
std::string bar_name(LocalCopy copy, std::uint64_t mshr_entries = 0);
std::string bar_name(ComputeWork work);

/// The account of one bar.
struct CaseRun {
  std::string name{};
  simulator::StallAccount account{};          ///< the mean of its compute units
  std::vector<simulator::Breakdown> units{};  ///< GSI's view of each; empty where there is one
};

/// The facts of a launch, for what is not 0: of the mean compute unit "cycles", "flush_cycles",
/// "gsi_memory_data_l2_cycles" and "all_causes_memory_data_l2_cycles"; where there are several
/// units, GSI's view of each, "unit_0_gsi_memory_data_l2_cycles".
Parameters facts_of(const simulator::GridAccount& account);

/// The mean compute unit. Nothing where there are no such facts, or where a view does not add up to
/// its cycles: a damaged or edited document.
std::optional<simulator::StallAccount> account_in(const Parameters& facts);

/// GSI's view of each of several compute units, up to the first that does not add up to the cycles.
/// Empty where fewer than two are left.
std::vector<simulator::Breakdown> units_in(const Parameters& facts);

/// A change that the thesis states, with its size there and here.
struct CaseChange {
  std::string what{};  ///< "utsd, time, ownership against GPU coherence"
  double thesis{0.0};  ///< as a ratio: 0.72 for -28 %
  double here{0.0};
};
/// The changes that the thesis gives in numbers, for the searches and for the arrays: none where a
/// bar that they need is not among `runs`.
std::vector<CaseChange> compare_with_thesis(const std::vector<CaseRun>& runs);

}  // namespace clprobe::gsi
