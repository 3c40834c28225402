// SPDX-License-Identifier: Apache-2.0
#include "probes/gsi/tree_programs.hpp"

namespace clprobe::gsi {
namespace {

using simulator::alu;
using simulator::Instruction;
using simulator::Lanes;
using simulator::Program;
using simulator::Register;

constexpr std::uint64_t line_bytes = 64;

// Places in memory, far from one another. Queues are a line more than a power of two apart, so that
// neither one set of a cache nor one bank of the second level has the locks of all.
constexpr std::uint64_t lock_base = 16U << 20U;
constexpr std::uint64_t head_base = 32U << 20U;
constexpr std::uint64_t queue_base = 64U << 20U;
constexpr std::uint64_t state_base = 128U << 20U;
constexpr std::uint64_t tree_base = 256U << 20U;
constexpr std::uint64_t queue_distance = (1U << 16U) + line_bytes;

constexpr Register head = 1;
constexpr Register task = 2;
constexpr Register node_register = 3;
constexpr Register state = 4;

/// The shared queue's place, or that of the unit whose warp executes.
Lanes place(std::uint64_t base, bool is_shared, const TreeSearch& search) {
  if (is_shared) return {.base = base};
  return {.base = base + queue_distance,
          .warp_step = static_cast<std::int64_t>(queue_distance),
          .warp_group = static_cast<std::uint32_t>(search.warps)};
}

Lanes head_lanes(bool is_shared, const TreeSearch& search) {
  Lanes lanes = place(head_base, is_shared, search);
  lanes.active = 1;
  return lanes;
}

/// What follows once the lock is taken and the head is known: the tasks and the new head.
Program access_program(const TreeSearch& search, bool is_shared, std::size_t at, std::size_t count,
                       bool is_push) {
  Lanes tasks = place(queue_base + at * task_bytes, is_shared, search);
  tasks.lane_step = task_bytes;
  tasks.active = static_cast<std::uint32_t>(count);
  tasks.bytes = task_bytes;
  return {is_push ? store(tasks, {head}) : load(task, tasks, {head}), alu(head, {head}),
          store(head_lanes(is_shared, search), {head})};
}

Program lock_program(const TreeSearch& search, Queue queue) {
  Instruction take = simulator::acquire(queue);
  take.count = search.backoff_cycles;
  return {take, load(head, head_lanes(queue == shared_queue, search)), alu(head, {head})};
}

Program work_program(const TreeSearch& search, std::uint64_t number, bool is_inner) {
  const Lanes payload{.base = tree_base + number * 2 * line_bytes, .lane_step = 4};
  const Lanes own{.base = state_base,
                  .lane_step = 2,
                  .warp_step = static_cast<std::int64_t>(search.state_lines * line_bytes),
                  .bytes = 2,
                  .table = 0,
                  .table_turn = 1};
  Program program{load(node_register, payload, {task}), alu(node_register, {node_register})};
  const auto step = static_cast<std::uint32_t>(program.size());
  program.push_back(load(state, own));
  const auto operation = static_cast<std::uint32_t>(program.size());
  program.push_back(alu(node_register, {node_register, state}));
  program.push_back(simulator::repeat(operation, search.operations));
  program.push_back(store(own, {node_register}));
  program.push_back(simulator::repeat(step, search.steps));
  if (is_inner && search.written_lines > 0) {
    Lanes results = payload;
    results.active = static_cast<std::uint32_t>(search.written_lines * line_bytes / 4);
    program.push_back(store(results, {node_register}));
  }
  return program;
}

}  // namespace

std::uint32_t TreePrograms::access(Queue queue, std::size_t at, std::size_t count,
                                   bool is_push) const {
  const std::size_t kind = (queue == shared_queue ? 0U : 2U) + (is_push ? 1U : 0U);
  const std::size_t place = (kind * queue_places + at % queue_places) * max_at_once + count - 1;
  return work(search_.nodes) + static_cast<std::uint32_t>(place);
}

std::optional<std::uint64_t> TreePrograms::node_of(std::uint32_t program) const {
  if (program < work(0) || program >= work(search_.nodes)) return std::nullopt;
  return program - work(0);
}

std::vector<Program> TreePrograms::make(const std::vector<bool>& is_inner) const {
  std::vector<Program> all;
  for (Queue queue = 0; queue < queues(); ++queue) all.push_back(lock_program(search_, queue));
  for (Queue queue = 0; queue < queues(); ++queue) all.push_back({simulator::release(queue)});
  // What comes next is asked for with the last instruction, which must be behind the barrier.
  all.push_back({simulator::barrier(), alu(head)});
  for (std::uint64_t n = 0; n < search_.nodes; ++n) {
    all.push_back(work_program(search_, n, is_inner[n]));
  }
  for (const bool is_shared : {true, false}) {
    for (const bool is_push : {false, true}) {
      for (std::size_t at = 0; at < queue_places; ++at) {
        for (std::size_t count = 1; count <= max_at_once; ++count) {
          all.push_back(access_program(search_, is_shared, at, count, is_push));
        }
      }
    }
  }
  return all;
}

std::vector<std::uint64_t> TreePrograms::state_places() const {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < search_.state_lines; ++i) places.push_back(i * line_bytes);
  return places;
}

std::vector<simulator::Lock> TreePrograms::locks() const {
  std::vector<simulator::Lock> locks;
  for (Queue queue = 0; queue < queues(); ++queue) {
    locks.push_back({.address = lock_base + queue * queue_distance,
                     .is_shared = queue == shared_queue && search_.units > 1});
  }
  return locks;
}

std::vector<simulator::Resident> TreePrograms::resident() const {
  std::vector<simulator::Resident> resident;
  for (Queue queue = 0; queue < queues(); ++queue) {
    const std::uint64_t distance = queue * queue_distance;
    resident.push_back({.base = head_base + distance, .bytes = line_bytes});
    resident.push_back(
        {.base = queue_base + distance, .bytes = (queue_places + max_at_once) * task_bytes});
  }
  resident.push_back({.base = state_base,
                      .bytes = search_.units * search_.warps * search_.state_lines * line_bytes});
  return resident;
}

}  // namespace clprobe::gsi
