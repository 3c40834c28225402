// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search as a trace. Warps of all compute units take nodes from queues with locks.
// After the work on a node, they put the node's children into the queues.
//
// The thesis gives no sizes of the search, so these sizes are assumptions. A local queue holds 32
// tasks, and half as many are fetched at once, as in the program uts of HeteroSync, which the
// thesis's authors published. For the work on a node and the number of nodes, bench/calibrate.py
// found the values that come nearest to the thesis. Queues give their oldest tasks first. With the
// newest first, the search would proceed in depth: local queues would not overflow, and most units
// would find no work. A node has two lines that the host wrote, so the lines come from main memory.
// A task has 16 bytes. Each warp has cache lines of state in global memory. Each step of work reads
// and writes one such line. The work on a node with children writes its results into the node.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "probes/gsi/cases.hpp"

namespace clprobe::gsi {
namespace {

using simulator::alu;
using simulator::Instruction;
using simulator::Lanes;
using simulator::Machine;
using simulator::Program;
using simulator::Register;
using simulator::Trace;

// The programs for all states of the queues are made in advance, because a trace cannot get new
// programs while it runs.

constexpr std::uint64_t task_bytes = 16;
constexpr std::size_t max_at_once = 16;  ///< maximum number of tasks that an access takes or puts
/// Number of slots of a queue in memory. A queue is a ring, so tasks beyond this number share
/// addresses.
constexpr std::size_t queue_slots = 64;

/// Number of a queue. Queue 0 is shared by all compute units; the queues of the single units
/// follow.
using Queue = std::uint32_t;
constexpr Queue shared_queue = 0;
constexpr Queue queue_of(std::uint64_t unit) { return static_cast<Queue>(unit) + 1; }

constexpr std::uint64_t line_bytes = 64;

// Base addresses, far from each other. The distance between queues is a power of two plus one line.
// The locks are then in different cache sets and banks of the second level.
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

/// Returns the address in the shared queue, or in the queue of the executing warp's unit.
Lanes address_in(std::uint64_t base, bool is_shared, const TreeSearch& search) {
  if (is_shared) return {.base = base};
  return {.base = base + queue_distance,
          .warp_step = static_cast<std::int64_t>(queue_distance),
          .warp_group = static_cast<std::uint32_t>(search.warps)};
}

Lanes head_lanes(bool is_shared, const TreeSearch& search) {
  Lanes lanes = address_in(head_base, is_shared, search);
  lanes.active = 1;
  return lanes;
}

/// Returns the program that accesses tasks and stores the new head. This program follows the
/// program that takes the lock and reads the head.
Program access_program(const TreeSearch& search, bool is_shared, std::size_t at, std::size_t count,
                       bool is_push) {
  Lanes tasks = address_in(queue_base + at * task_bytes, is_shared, search);
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

/// Numbers of the programs, and all parts of the trace except its groups.
class TreePrograms {
 public:
  explicit TreePrograms(const TreeSearch& search) : search_(search) {}

  /// Returns the program that takes a queue's lock and reads the queue's head.
  static std::uint32_t lock(Queue queue) { return queue; }
  [[nodiscard]] std::uint32_t leave(Queue queue) const {
    return static_cast<std::uint32_t>(queues()) + queue;
  }
  /// Returns the program that waits at a barrier for the other warps of the work-group.
  [[nodiscard]] std::uint32_t meet() const { return static_cast<std::uint32_t>(2 * queues()); }
  [[nodiscard]] std::uint32_t work(std::uint64_t node) const {
    return meet() + 1 + static_cast<std::uint32_t>(node);
  }
  /// Returns the program that takes tasks from the slots from `at` on or, with `is_push`, puts
  /// tasks there. `count`: number of tasks, 1 to max_at_once.
  [[nodiscard]] std::uint32_t access(Queue queue, std::size_t at, std::size_t count,
                                     bool is_push) const {
    const std::size_t kind = (queue == shared_queue ? 0U : 2U) + (is_push ? 1U : 0U);
    const std::size_t offset = (kind * queue_slots + at % queue_slots) * max_at_once + count - 1;
    return work(search_.nodes) + static_cast<std::uint32_t>(offset);
  }

  /// Returns all programs, by number. `is_inner`: for each node, true if the node has children.
  [[nodiscard]] std::vector<Program> make(const std::vector<bool>& is_inner) const {
    std::vector<Program> all;
    for (Queue queue = 0; queue < queues(); ++queue) all.push_back(lock_program(search_, queue));
    for (Queue queue = 0; queue < queues(); ++queue) all.push_back({simulator::release(queue)});
    // The simulator requests the next program when the last instruction has executed. Without the
    // operation after the barrier, it would request that program before all warps arrive.
    all.push_back({simulator::barrier(), alu(head)});
    for (std::uint64_t n = 0; n < search_.nodes; ++n) {
      all.push_back(work_program(search_, n, is_inner[n]));
    }
    for (const bool is_shared : {true, false}) {
      for (const bool is_push : {false, true}) {
        for (std::size_t at = 0; at < queue_slots; ++at) {
          for (std::size_t count = 1; count <= max_at_once; ++count) {
            all.push_back(access_program(search_, is_shared, at, count, is_push));
          }
        }
      }
    }
    return all;
  }
  /// Returns the table that the programs use: the offsets of a warp's lines of state.
  [[nodiscard]] std::vector<std::uint64_t> state_offsets() const {
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t i = 0; i < search_.state_lines; ++i) offsets.push_back(i * line_bytes);
    return offsets;
  }
  [[nodiscard]] std::vector<simulator::Lock> locks() const {
    std::vector<simulator::Lock> locks;
    for (Queue queue = 0; queue < queues(); ++queue) {
      locks.push_back({.address = lock_base + queue * queue_distance,
                       .is_shared = queue == shared_queue && search_.units > 1});
    }
    return locks;
  }
  /// Returns the memory that the second level contains at the start: all queues and warps' state.
  [[nodiscard]] std::vector<simulator::Resident> resident() const {
    std::vector<simulator::Resident> resident;
    for (Queue queue = 0; queue < queues(); ++queue) {
      const std::uint64_t distance = queue * queue_distance;
      resident.push_back({.base = head_base + distance, .bytes = line_bytes});
      resident.push_back(
          {.base = queue_base + distance, .bytes = (queue_slots + max_at_once) * task_bytes});
    }
    resident.push_back({.base = state_base,
                        .bytes = search_.units * search_.warps * search_.state_lines * line_bytes});
    return resident;
  }

 private:
  [[nodiscard]] std::uint64_t queues() const { return search_.units + 1; }

  TreeSearch search_;
};

constexpr std::size_t max_children = 4;

/// Returns the next random number (splitmix64). Source: Steele, Lea, Flood, 2014.
std::uint64_t splitmix(std::uint64_t& seed) {
  std::uint64_t value = seed += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// Returns the children of each node. A random half of the nodes has one to four children, and the
/// other half has no children. If all branches end before all nodes are used, the root gets another
/// child, as in UTS's binomial trees (Olivier et al. 2006), whose root has many children.
std::vector<std::vector<std::uint32_t>> grow_tree(const TreeSearch& search) {
  constexpr std::uint64_t percent = 100;
  constexpr std::uint64_t inner_percent = 50;  // share of nodes with children
  std::uint64_t seed = 1;
  std::vector<std::vector<std::uint32_t>> children(search.nodes);
  std::uint32_t next = 1;
  for (std::uint32_t parent = 1; next < search.nodes; ++parent) {
    if (parent >= next) children[0].push_back(next++);
    const std::uint64_t drawn = splitmix(seed);
    if (drawn % percent >= inner_percent) continue;
    const std::uint64_t count = 1 + (drawn >> 8U) % max_children;
    for (std::uint64_t i = 0; i < count && next < search.nodes; ++i) {
      children[parent].push_back(next++);
    }
  }
  return children;
}

/// State of the search: the next step of each warp, and the contents of the queues. A worker is a
/// warp that accesses the queues: every warp, or one warp of each work-group.
class Search {
 public:
  explicit Search(const TreeSearch& search)
      : search_(search),
        programs_(search),
        children_(grow_tree(search)),
        warps_(search.units * search.warps),
        tasks_(search.units + 1),
        nodes_of_worker_(search.polls_by == Polls::group
                             ? std::min<std::size_t>(search.warps, max_at_once)
                             : 1) {
    tasks_[shared_queue].waiting.push_back(0);
    for (std::size_t number = 0; number < warps_.size(); ++number) {
      Warp& warp = warps_[number];
      warp.worker = is_worker(number) ? number : number - number % search.warps;
      warp.queue = first_queue(number);
      warp.step = is_worker(number) ? Step::pops : Step::starts_work;
    }
  }

  [[nodiscard]] std::uint32_t first_program(std::size_t number) const {
    return is_worker(number) ? TreePrograms::lock(first_queue(number)) : programs_.meet();
  }

  std::uint32_t next(std::uint32_t number) {
    Warp& warp = warps_[number];
    switch (warp.step) {
      case Step::pops:
        return pop(warp);
      case Step::has_popped:
        return leave(warp, warp.extra.empty() ? Step::hands_out : Step::takes_local);
      case Step::takes_local:
        return lock(warp, queue_of(unit_of(number)), Step::deposits);
      case Step::deposits:
        return deposit(warp);
      case Step::hands_out:
        return hand_out(warp, number);
      case Step::waits:
        return meet(warp, Step::starts_work);
      case Step::starts_work:
        return start_work(warp, number);
      case Step::works:
        return end_work(warp, number);
      case Step::pushes:
        return push(warp);
      case Step::has_pushed:
        return leave(warp, Step::goes_on);
      case Step::has_left_local:
        return lock(warp, shared_queue, warp.pending.empty() ? Step::pops : Step::pushes);
      case Step::goes_on:
        return go_on(warp, number);
      case Step::ends:
        break;
    }
    return end_of_trace;
  }

 private:
  enum class Step {
    pops,  // takes tasks if the queue has any, with the lock held
    has_popped,
    takes_local,
    deposits,  // puts surplus tasks into the local queue, with its lock held
    hands_out,
    waits,  // waits for nodes from its group's worker
    starts_work,
    works,
    pushes,  // puts children into the queue, with its lock held
    has_pushed,
    has_left_local,
    goes_on,
    ends,
  };
  struct Warp {
    Step step{Step::pops};
    Queue queue{shared_queue};
    std::size_t worker{0};                 // warp that accesses the queues for this warp
    std::vector<std::uint32_t> nodes{};    // nodes that a worker distributes to its warps
    std::vector<std::uint32_t> extra{};    // tasks that are to go to the local queue
    std::vector<std::uint32_t> pending{};  // children that are to go to a queue
  };
  struct Tasks {
    std::deque<std::uint32_t> waiting{};
    std::size_t first{0};  ///< position of the oldest task in an array of unlimited size
  };
  static constexpr std::uint32_t end_of_trace = ~std::uint32_t{0};

  [[nodiscard]] bool polls_by_group() const { return search_.polls_by == Polls::group; }
  [[nodiscard]] bool is_worker(std::size_t number) const {
    return !polls_by_group() || number % search_.warps == 0;
  }
  [[nodiscard]] std::uint64_t unit_of(std::size_t number) const { return number / search_.warps; }
  [[nodiscard]] Queue first_queue(std::size_t number) const {
    return search_.queues == TaskQueues::one ? shared_queue : queue_of(unit_of(number));
  }

  static std::uint32_t lock(Warp& warp, Queue queue, Step then) {
    warp.queue = queue;
    warp.step = then;
    return TreePrograms::lock(queue);
  }
  std::uint32_t leave(Warp& warp, Step then) const {
    warp.step = then;
    return programs_.leave(warp.queue);
  }
  std::uint32_t meet(Warp& warp, Step then) const {
    warp.step = then;
    return programs_.meet();
  }
  std::uint32_t go_on(Warp& warp, std::size_t number) const {
    return lock(warp, first_queue(number), warp.pending.empty() ? Step::pops : Step::pushes);
  }

  /// Removes the oldest `count` tasks from a queue and returns them.
  static std::vector<std::uint32_t> take(Tasks& tasks, std::size_t count) {
    std::vector<std::uint32_t> taken;
    for (std::size_t i = 0; i < count; ++i) {
      taken.push_back(tasks.waiting.front());
      tasks.waiting.pop_front();
    }
    tasks.first += count;
    return taken;
  }
  /// Moves the last `count` tasks of `from` to the end of the warp's queue. Returns the program
  /// that stores the tasks.
  std::uint32_t put(const Warp& warp, std::vector<std::uint32_t>& from, std::size_t count) {
    Tasks& tasks = tasks_[warp.queue];
    const std::size_t at = tasks.first + tasks.waiting.size();
    const auto first = from.end() - static_cast<std::ptrdiff_t>(count);
    tasks.waiting.insert(tasks.waiting.end(), first, from.end());
    from.erase(first, from.end());
    return programs_.access(warp.queue, at, count, true);
  }

  std::uint32_t pop(Warp& warp) {
    Tasks& tasks = tasks_[warp.queue];
    const std::size_t there = tasks.waiting.size();
    if (there == 0) return find_none(warp);
    const bool pulls = search_.queues == TaskQueues::per_unit && warp.queue == shared_queue;
    const std::size_t count =
        std::min(pulls ? search_.local_capacity / 2 : nodes_of_worker_, there);
    const std::size_t at = tasks.first;
    warp.nodes = take(tasks, count);
    const std::size_t own = std::min(nodes_of_worker_, count);
    warp.extra.assign(warp.nodes.begin() + static_cast<std::ptrdiff_t>(own), warp.nodes.end());
    warp.nodes.resize(own);
    warp.step = Step::has_popped;
    return programs_.access(warp.queue, at, count, false);
  }

  std::uint32_t find_none(Warp& warp) const {
    warp.nodes.clear();
    if (warp.queue != shared_queue) return leave(warp, Step::has_left_local);
    if (processed_ < children_.size()) return leave(warp, Step::goes_on);
    // The other warps of the group wait for this worker, which must wake them before it ends.
    return leave(warp, polls_by_group() ? Step::hands_out : Step::ends);
  }

  /// Puts surplus tasks into the local queue. The queue may briefly exceed its capacity, because
  /// its memory is a ring with more slots.
  std::uint32_t deposit(Warp& warp) {
    warp.step = Step::has_popped;
    return put(warp, warp.extra, warp.extra.size());
  }

  std::uint32_t hand_out(Warp& warp, std::size_t number) {
    return polls_by_group() ? meet(warp, Step::starts_work) : start_work(warp, number);
  }

  std::uint32_t start_work(Warp& warp, std::size_t number) {
    const Warp& worker = warps_[warp.worker];
    const std::size_t index = number - warp.worker;
    if (worker.nodes.empty()) return end_of_trace;
    if (index >= worker.nodes.size()) return meet(warp, after_work(number));
    warp.step = Step::works;
    return programs_.work(worker.nodes[index]);
  }

  std::uint32_t end_work(Warp& warp, std::size_t number) {
    ++processed_;
    Warp& worker = warps_[warp.worker];
    const auto& children = children_[worker.nodes[number - warp.worker]];
    worker.pending.insert(worker.pending.end(), children.begin(), children.end());
    return polls_by_group() ? meet(warp, after_work(number)) : go_on(warp, number);
  }

  /// Returns the step after the barrier at which a worker's nodes are complete. A worker continues;
  /// all other warps wait for their worker.
  [[nodiscard]] Step after_work(std::size_t number) const {
    return is_worker(number) ? Step::goes_on : Step::waits;
  }

  std::uint32_t push(Warp& warp) {
    const bool is_full = tasks_[warp.queue].waiting.size() >= search_.local_capacity;
    if (warp.queue != shared_queue && is_full) return leave(warp, Step::has_left_local);
    const std::size_t most = std::min(max_at_once, max_children * nodes_of_worker_);
    warp.step = Step::has_pushed;
    return put(warp, warp.pending, std::min(most, warp.pending.size()));
  }

  TreeSearch search_;
  TreePrograms programs_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<Warp> warps_;
  std::vector<Tasks> tasks_;  // tasks by queue
  std::size_t nodes_of_worker_;
  std::uint64_t processed_{0};
};

}  // namespace

std::optional<std::uint64_t> node_of(const TreeSearch& search, std::uint32_t program) {
  const TreePrograms programs(search);
  if (program < programs.work(0) || program >= programs.work(search.nodes)) return std::nullopt;
  return program - programs.work(0);
}

Trace make_tree_search(const Machine& machine, const TreeSearch& search) {
  Trace trace;
  const TreePrograms programs(search);
  std::vector<bool> is_inner;
  for (const auto& children : grow_tree(search)) is_inner.push_back(!children.empty());
  trace.programs = programs.make(is_inner);
  trace.tables = {programs.state_offsets()};
  trace.locks = programs.locks();
  trace.resident = programs.resident();
  const auto queues = std::make_shared<Search>(search);
  for (std::uint64_t unit = 0; unit < search.units; ++unit) {
    const auto first = static_cast<std::uint32_t>(unit * search.warps);
    trace.groups.push_back(make_group(machine, search.warps * machine.core.warp_width, 0, first));
    for (simulator::WarpWork& warp : trace.groups.back().warps) {
      warp.program = queues->first_program(warp.number);
    }
  }
  trace.next_program = [queues](std::uint32_t warp, std::uint64_t) { return queues->next(warp); };
  return trace;
}

}  // namespace clprobe::gsi
