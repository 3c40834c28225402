// SPDX-License-Identifier: Apache-2.0
// Case studies of the thesis as traces for the simulator: unbalanced tree search, and the implicit
// microbenchmark. Also kernels that only compute, which the thesis lacks. Sizes that the thesis
// omits are assumptions, stated at each case. Pure. Source: Alsop, GSI: A GPU stall inspector,
// 2016, chapter 6.
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

/// Queues of the tree search. `uts`: one queue with one lock for all compute units. `utsd`: a queue
/// for each unit, and a common queue with its own lock. The common queue takes tasks for which a
/// unit's queue has no space, and serves units without tasks.
enum class TaskQueues { one, per_unit };
inline constexpr Word<TaskQueues> task_queues_words[]{{TaskQueues::one, "uts"},
                                                      {TaskQueues::per_unit, "utsd"}};
inline std::string_view to_word(TaskQueues queues) { return word_in(task_queues_words, queues); }

/// Ways to work on a chunk of an array. `scratchpad`: warps copy it to local memory and back.
/// `scratchpad_dma`: a copy engine copies it. `stash`: loads fetch it into a memory that is mapped
/// to the array.
enum class LocalCopy { scratchpad, scratchpad_dma, stash };
inline constexpr Word<LocalCopy> local_copy_words[]{
    {LocalCopy::scratchpad, "scratchpad"},
    {LocalCopy::scratchpad_dma, "scratchpad with DMA"},
    {LocalCopy::stash, "stash"}};
inline std::string_view to_word(LocalCopy copy) { return word_in(local_copy_words, copy); }

/// Kinds of waiting of a kernel without memory accesses. `chain`: results of arithmetic and of
/// special functions. `functions`: the special-function pipelines, which all warps use. `branches`:
/// branches. `tail`: the end of the launch, because one of two compute units has twice the work.
enum class ComputeWork { chain, functions, branches, tail };
inline constexpr Word<ComputeWork> compute_work_words[]{
    {ComputeWork::chain, "chain"},
    {ComputeWork::functions, "special functions"},
    {ComputeWork::branches, "branches"},
    {ComputeWork::tail, "tail"}};
inline std::string_view to_word(ComputeWork work) { return word_in(compute_work_words, work); }

/// Warps that access the queues. `warp`: each warp. `group`: one warp of a work-group, for all of
/// its warps.
enum class Polls { warp, group };
inline constexpr Word<Polls> polls_words[]{{Polls::warp, "warp"}, {Polls::group, "group"}};

/// Parameters of the tree search. The thesis omits these values. docs/gsi.md and tree_search.cpp
/// state where the default values come from.
struct TreeSearch {
  TaskQueues queues{TaskQueues::one};
  std::uint64_t nodes{16384};  ///< nodes of the tree, for all compute units together
  std::uint64_t units{15};
  std::uint64_t warps{4};   ///< warps of a compute unit, which form a work-group
  std::uint64_t steps{16};  ///< steps of work on a node; each reads and writes state of the warp
  std::uint64_t operations{8};     ///< number of dependent operations of a step
  std::uint64_t state_lines{4};    ///< cache lines of a warp's state, which steps use cyclically
  std::uint64_t written_lines{2};  ///< lines that the work on an inner node writes; a node has two
  /// Capacity of a unit's own queue in tasks. A fetch from the common queue takes up to half of it.
  std::uint64_t local_capacity{32};
  std::uint64_t backoff_cycles{0};  ///< cycles from a failed attempt to lock to the next attempt
  Polls polls_by{Polls::warp};
};

/// Returns the trace of a search by `units` compute units that are simulated together. Each unit
/// has one work-group. The trace contains the state of its queues, so it serves only one
/// simulation.
simulator::Trace make_tree_search(const simulator::Machine& machine, const TreeSearch& search);

/// Returns the node, 0 to nodes - 1, that a program of the trace works on. Returns nothing for a
/// program that accesses a queue.
std::optional<std::uint64_t> node_of(const TreeSearch& search, std::uint32_t program);

struct Implicit {
  LocalCopy copy{LocalCopy::scratchpad};
  /// Number of work-groups. As many run at once as fit into local memory.
  std::uint64_t groups{6};
  std::uint64_t warps{4};          ///< warps of a work-group
  std::uint64_t elements{2};       ///< words that a work-item processes
  std::uint64_t object_bytes{32};  ///< distance in bytes between elements, each of 4 bytes
  /// Operations that compute an address in global memory. An address in local memory needs one
  /// operation.
  std::uint64_t address_operations{12};
  std::uint64_t operations{16};  ///< dependent operations on each element
};

simulator::Trace make_implicit(const simulator::Machine& machine, const Implicit& implicit);

/// Returns the trace of work-groups that only compute. The traces cause stall types that are rare
/// in the thesis's cases.
simulator::Trace make_compute(const simulator::Machine& machine, ComputeWork work);
std::uint64_t units_of(ComputeWork work);

inline constexpr std::uint64_t thesis_mshrs[]{32, 64, 128, 256};

/// Returns `machine` with a case's coherence and number of MSHRs. The store buffer gets as many
/// entries, as in the thesis. `mshr_entries`: 0 for the machine's own numbers of both.
simulator::Machine adapt(simulator::Machine machine, simulator::Coherence coherence,
                         std::uint64_t mshr_entries = 0);

/// Maximum of the default number of compute units in a search or a trace. A lock for hundreds of
/// units would take minutes to simulate.
inline constexpr std::uint64_t max_default_units = 16;

/// Returns the name of a bar: "utsd, ownership" or "implicit, stash, 256 MSHRs". For 0 MSHRs, the
/// name is "implicit, stash".
std::string bar_name(TaskQueues queues, simulator::Coherence coherence,
                     std::uint64_t mshr_entries = 0);
std::string bar_name(LocalCopy copy, std::uint64_t mshr_entries = 0);
std::string bar_name(ComputeWork work);

struct CaseRun {
  std::string name{};
  simulator::StallAccount account{};  ///< mean over the compute units of the run
  /// GSI's view of each compute unit; empty if only one unit was simulated.
  std::vector<simulator::Breakdown> units{};
};

/// Returns the facts of a launch: "cycles", "flush_cycles" and nonzero parts of the mean compute
/// unit, such as "gsi_memory_data_l2_cycles" and "all_causes_memory_data_l2_cycles". With two or
/// more units, each unit has nonzero parts as well: "unit_0_gsi_memory_data_l2_cycles".
Parameters facts_of(const simulator::GridAccount& account);

/// Returns the account of the mean compute unit. Returns nothing if facts are missing, or if a view
/// does not add up to the cycles, as in a damaged or edited document.
std::optional<simulator::StallAccount> account_in(const Parameters& facts);

/// Returns GSI's view of each compute unit, and stops before the first view that does not add up to
/// the cycles. Returns an empty list for fewer than two units.
std::vector<simulator::Breakdown> units_in(const Parameters& facts);

/// Change that the thesis states, with its size in the thesis and in the simulated runs.
struct CaseChange {
  std::string what{};  ///< "utsd, time, ownership against GPU coherence"
  double thesis{0.0};  ///< ratio in the thesis: 0.72 for -28 %
  double here{0.0};    ///< ratio in the simulated runs; NaN if the reference bar has the value 0
};
/// Returns the changes for which the thesis gives numbers, of the searches and of the arrays. If
/// `runs` lacks a bar of the searches, the changes of the searches are left out. If `runs` lacks a
/// bar of the arrays, the changes of the arrays are left out.
std::vector<CaseChange> compare_with_thesis(const std::vector<CaseRun>& runs);

}  // namespace clprobe::gsi
