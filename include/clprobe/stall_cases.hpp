// SPDX-License-Identifier: Apache-2.0
// The two case studies of the thesis as traces for the simulator: unbalanced tree search, and the
// implicit microbenchmark. Source: Alsop, GSI: A GPU stall inspector, 2016, chapter 6. Sizes that
// it does not give are assumptions, and stand in stall_cases.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/stalls.hpp"
#include "clprobe/trace.hpp"

namespace clprobe::simulator {

/// `uts`: one queue behind one lock for all compute units. `utsd`: a queue for each, and one for
/// all behind a second lock, for what does not fit and for who has nothing left.
enum class TaskQueues { one, per_unit };

/// How a chunk of an array is worked on: copied to local memory and back by the warps; by a copy
/// engine; or loaded where it is used into a memory that is mapped to it.
enum class LocalCopy { scratchpad, scratchpad_dma, stash };

std::string_view to_word(TaskQueues queues);
std::string_view to_word(LocalCopy copy);

struct TreeSearch {
  TaskQueues queues{TaskQueues::one};
  std::uint64_t nodes{546};  ///< that the compute unit processes: its share of 8192
  std::uint64_t warps{4};
  std::uint64_t steps{
      12};  ///< in which a node is worked on, each reads and writes its warp's state
  std::uint64_t operations{8};  ///< of a step, one after the other
  std::uint64_t seed{1};        ///< of the tree
};

/// The share of one compute unit in a search by all of them. The trace keeps the state of its
/// queues: it is good for one simulation.
Trace make_tree_search(const Machine& machine, const TreeSearch& search);

/// The node that a program of the trace works on: 0 to nodes - 1, each at some time. Nothing for
/// programs that go to a queue.
std::optional<std::uint64_t> node_of(const TreeSearch& search, std::uint32_t program);

/// The defaults fill the 16 KiB of local memory once.
struct Implicit {
  LocalCopy copy{LocalCopy::scratchpad};
  std::uint64_t groups{2};
  std::uint64_t warps{16};              ///< of a group
  std::uint64_t elements{4};            ///< of a work-item
  std::uint64_t object_bytes{4};        ///< of which an element is four
  std::uint64_t address_operations{6};  ///< for a place in global memory; one in local memory
  std::uint64_t operations{2};          ///< on each element, one after the other
};

Trace make_implicit(const Machine& machine, const Implicit& implicit);

/// The machine `gsi` as in the case: coherence, MSHRs, and store buffer with them.
Machine make_case_machine(Coherence coherence, std::uint64_t mshr_entries = 32);

/// One run of a case study.
struct CaseRun {
  std::string name{};  ///< "utsd, ownership"; "implicit, stash, 256 MSHRs"
  StallAccount account{};
};

/// uts and utsd, each under plain GPU coherence and under ownership, in this order.
std::vector<CaseRun> run_tree_searches(const TreeSearch& search = {});
/// Scratchpad, scratchpad with DMA, stash; each with 32, 64, 128, 256 MSHRs, in this order.
std::vector<CaseRun> run_implicit(const Implicit& implicit = {});

/// A change that the thesis states, and the same one here.
struct CaseChange {
  std::string what{};  ///< "utsd, time, ownership against GPU coherence"
  double thesis{0.0};  ///< as a ratio: 0.72 for -28 %
  double here{0.0};
};
/// All sizes that the thesis gives in numbers. `runs` as the functions above return them.
std::vector<CaseChange> compare_tree_searches(const std::vector<CaseRun>& runs);
std::vector<CaseChange> compare_implicit(const std::vector<CaseRun>& runs);

}  // namespace clprobe::simulator
