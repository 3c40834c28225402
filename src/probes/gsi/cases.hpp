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

#include "clprobe/machine.hpp"
#include "clprobe/stalls.hpp"
#include "clprobe/trace.hpp"
#include "clprobe/words.hpp"

namespace clprobe::gsi {

/// `uts`: one queue behind one lock for all compute units. `utsd`: a queue for each, and one for
/// all behind a second lock, for what does not fit and for who has nothing left.
enum class TaskQueues { one, per_unit };
inline constexpr Word<TaskQueues> task_queues_words[]{{TaskQueues::one, "uts"},
                                                      {TaskQueues::per_unit, "utsd"}};
inline std::string_view to_word(TaskQueues queues) { return word_in(task_queues_words, queues); }

/// How a chunk of an array is worked on: copied to local memory and back by the warps; by a copy
/// engine; or loaded where it is used into a memory that is mapped to it.
enum class LocalCopy { scratchpad, scratchpad_dma, stash };
inline constexpr Word<LocalCopy> local_copy_words[]{
    {LocalCopy::scratchpad, "scratchpad"},
    {LocalCopy::scratchpad_dma, "scratchpad with DMA"},
    {LocalCopy::stash, "stash"}};
inline std::string_view to_word(LocalCopy copy) { return word_in(local_copy_words, copy); }

/// What a kernel without memory waits for: a chain of results, of arithmetic and of special
/// functions; the pipelines of special functions, which all warps want; branches; and other compute
/// units, of which the longest has twice the work of the others.
enum class ComputeWork { chain, functions, branches, tail };
inline constexpr Word<ComputeWork> compute_work_words[]{
    {ComputeWork::chain, "chain"},
    {ComputeWork::functions, "special functions"},
    {ComputeWork::branches, "branches"},
    {ComputeWork::tail, "tail"}};
inline std::string_view to_word(ComputeWork work) { return word_in(compute_work_words, work); }

/// Who goes to the queues: each warp for itself, or one of a work-group for all its warps.
enum class Polls { warp, group };
inline constexpr Word<Polls> polls_words[]{{Polls::warp, "warp"}, {Polls::group, "group"}};

/// What the thesis does not say is what bench/calibrate.py finds: docs/gsi.md.
struct TreeSearch {
  TaskQueues queues{TaskQueues::one};
  std::uint64_t nodes{16384};  ///< that all compute units process together
  std::uint64_t units{15};
  std::uint64_t warps{4};        ///< of a unit, a work-group
  std::uint64_t steps{16};       ///< of the work on a node, each reads and writes its warp's state
  std::uint64_t operations{8};   ///< of a step, one after the other
  std::uint64_t state_lines{4};  ///< that a warp keeps in memory, a step each in turn
  std::uint64_t written_lines{2};    ///< of an inner node's own two, that the work on it writes
  std::uint64_t local_capacity{32};  ///< tasks of a unit's own queue; half of it is pulled at once
  std::uint64_t backoff_cycles{0};   ///< from an attempt in vain to take a lock to the next one
  Polls polls_by{Polls::warp};
  std::uint64_t inner_percent{50};  ///< of the nodes that have children, one to four
  std::uint64_t seed{1};            ///< of the tree
};

/// A search by `units` compute units that are simulated together, a work-group each. The trace
/// keeps the state of its queues: it is good for one simulation.
simulator::Trace make_tree_search(const simulator::Machine& machine, const TreeSearch& search);

/// The node that a program of the trace works on: 0 to nodes - 1, each at some time. Nothing for
/// programs that go to a queue.
std::optional<std::uint64_t> node_of(const TreeSearch& search, std::uint32_t program);

struct Implicit {
  LocalCopy copy{LocalCopy::scratchpad};
  std::uint64_t groups{6};               ///< of which local memory holds some at a time
  std::uint64_t warps{4};                ///< of a group
  std::uint64_t elements{2};             ///< of a work-item
  std::uint64_t object_bytes{32};        ///< of which an element is four
  std::uint64_t address_operations{12};  ///< for a place in global memory; one in local memory
  std::uint64_t operations{16};          ///< on each element, one after the other
};

/// Bytes of local memory that a work-group has.
std::uint64_t local_bytes_of(const simulator::Machine& machine, const Implicit& implicit);
simulator::Trace make_implicit(const simulator::Machine& machine, const Implicit& implicit);

/// A work-group that computes and nothing else: none of the thesis's, for the types of stalls that
/// its cases have little of.
simulator::Trace make_compute(const simulator::Machine& machine, ComputeWork work);
/// How many compute units are simulated together.
std::uint64_t units_of(ComputeWork work);

/// The numbers of MSHRs of the thesis.
inline constexpr std::uint64_t thesis_mshrs[]{32, 64, 128, 256};

/// `machine` as in the case: its coherence, its MSHRs (0: its own) and, as in the thesis, a store
/// buffer of as many entries.
simulator::Machine adapt(simulator::Machine machine, simulator::Coherence coherence,
                         std::uint64_t mshr_entries = 0);

/// How many compute units of a machine are simulated together in a search if nobody says: all, but
/// at most 16, since one lock for hundreds takes minutes to simulate.
inline constexpr std::uint64_t max_default_units = 16;

/// A bar's name: "utsd, ownership"; "implicit, stash, 256 MSHRs", without MSHRs "implicit, stash".
std::string bar_name(TaskQueues queues, simulator::Coherence coherence,
                     std::uint64_t mshr_entries = 0);
std::string bar_name(LocalCopy copy, std::uint64_t mshr_entries = 0);
std::string bar_name(ComputeWork work);

/// What was accounted of one bar.
struct CaseRun {
  std::string name{};
  simulator::StallAccount account{};          ///< the mean of its compute units
  std::vector<simulator::Breakdown> units{};  ///< GSI's view of each; empty where there is one
};

/// A change that the thesis states, and the same one here.
struct CaseChange {
  std::string what{};  ///< "utsd, time, ownership against GPU coherence"
  double thesis{0.0};  ///< as a ratio: 0.72 for -28 %
  double here{0.0};
};
/// All sizes that the thesis gives in numbers, of bars that are all among `runs`; none of a case of
/// which one is missing.
std::vector<CaseChange> compare_with_thesis(const std::vector<CaseRun>& runs);

}  // namespace clprobe::gsi
