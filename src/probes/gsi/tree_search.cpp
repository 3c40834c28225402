// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search as a trace: warps take tree nodes from a queue behind a lock, work on
// them, and put their children back.
//
// The thesis gives no sizes of the search. Assumed, after the program that its authors published
// (HeteroSync's uts): 8192 nodes, a local queue of 32 tasks, half of one pulled at a time. Also
// assumed: nodes of two lines that the host wrote, so that they come from main memory; tasks of 16
// bytes; and a line of state for each warp in global memory, read and written for each node.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "clprobe/simulator.hpp"
#include "probes/gsi/cases.hpp"

namespace clprobe::gsi {
namespace {

using simulator::acquire;
using simulator::alu;
using simulator::Instruction;
using simulator::Lanes;
using simulator::Latency;
using simulator::Machine;
using simulator::Program;
using simulator::Register;
using simulator::release;
using simulator::repeat;
using simulator::Trace;

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t task_bytes = 16;
constexpr std::size_t local_capacity = 32;
constexpr std::size_t max_at_once = local_capacity / 2;
// Of a queue in memory, a ring: more tasks than that share addresses.
constexpr std::size_t places = 64;
constexpr std::size_t max_children = 4;

// Places in memory, far from one another.
constexpr std::uint64_t lock_base = 1U << 20U;
constexpr std::uint64_t head_base = 2U << 20U;
constexpr std::uint64_t queue_base = 4U << 20U;
constexpr std::uint64_t state_base = 8U << 20U;
constexpr std::uint64_t tree_base = 256U << 20U;
constexpr std::uint64_t queue_distance = 1U << 20U;

constexpr Register head = 1;
constexpr Register task = 2;
constexpr Register node = 3;
constexpr Register state = 4;

/// Steele, Lea, Flood 2014.
std::uint64_t splitmix(std::uint64_t& seed) {
  std::uint64_t value = seed += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// Children by node. Half of the nodes have none, the others one to four; where a branch dies out
/// before all nodes are given away, the root gets one more.
std::vector<std::vector<std::uint32_t>> grow_tree(std::uint64_t nodes, std::uint64_t seed) {
  std::vector<std::vector<std::uint32_t>> children(nodes);
  std::uint32_t next = 1;
  for (std::uint32_t parent = 1; next < nodes; ++parent) {
    if (parent >= next) children[0].push_back(next++);
    const std::uint64_t drawn = splitmix(seed);
    if ((drawn & 1U) != 0) continue;
    const std::uint64_t count = 1 + (drawn >> 8U) % max_children;
    for (std::uint64_t i = 0; i < count && next < nodes; ++i) children[parent].push_back(next++);
  }
  return children;
}

enum Queue : std::uint32_t { shared_queue = 0, local_queue = 1 };

Lanes head_lanes(Queue queue) { return {.base = head_base + queue * queue_distance, .active = 1}; }

Lanes task_lanes(Queue queue, std::size_t at, std::size_t count) {
  return {.base = queue_base + queue * queue_distance + at * task_bytes,
          .lane_step = task_bytes,
          .active = static_cast<std::uint32_t>(count),
          .bytes = task_bytes};
}

/// What follows once the lock is taken and the head is known: `count` tasks from or to the places
/// from `at` on, the new head, and the release.
Program access_program(Queue queue, std::size_t at, std::size_t count, bool is_push) {
  const bool is_elsewhere = queue == shared_queue;
  const Lanes tasks = task_lanes(queue, at, count);
  Instruction access = is_push ? store(tasks, {head}) : load(task, tasks, {head});
  access.is_written_elsewhere = is_elsewhere;
  Instruction move_head = store(head_lanes(queue), {head});
  move_head.is_written_elsewhere = is_elsewhere;
  return {access, alu(head, {head}), move_head, release(queue)};
}

Program lock_program(Queue queue) {
  Instruction look = load(head, head_lanes(queue));
  look.is_written_elsewhere = queue == shared_queue;
  return {acquire(queue), look, alu(head, {head})};
}

Program work_program(const TreeSearch& search, std::uint64_t number) {
  const Lanes payload{.base = tree_base + number * 2 * line_bytes, .lane_step = 4};
  const Lanes own{.base = state_base, .lane_step = 2, .warp_step = line_bytes, .bytes = 2};
  Program program{load(node, payload, {task}), alu(node, {node})};
  const auto step = static_cast<std::uint32_t>(program.size());
  program.push_back(load(state, own));
  const auto operation = static_cast<std::uint32_t>(program.size());
  program.push_back(alu(node, {node, state}));
  program.push_back(repeat(operation, search.operations));
  program.push_back(store(own, {node}));
  program.push_back(repeat(step, search.steps));
  return program;
}

/// The programs of a search and where each stands. All that any state of the queues can ask for is
/// there from the start: a trace does not grow while it runs.
class Programs {
 public:
  explicit Programs(const TreeSearch& search) : search_(search) {}

  [[nodiscard]] static std::uint32_t lock(Queue queue) { return queue; }
  [[nodiscard]] static std::uint32_t leave(Queue queue) { return 2 + queue; }
  [[nodiscard]] static std::uint32_t work(std::uint32_t number) { return 4 + number; }
  [[nodiscard]] std::uint32_t access(Queue queue, std::size_t at, std::size_t count,
                                     bool is_push) const {
    const std::size_t kind = queue * 2U + (is_push ? 1U : 0U);
    return 4 + static_cast<std::uint32_t>(search_.nodes +
                                          (kind * places + at % places) * max_at_once + count - 1);
  }

  [[nodiscard]] std::vector<Program> make() const {
    std::vector<Program> all{lock_program(shared_queue),
                             lock_program(local_queue),
                             {release(shared_queue)},
                             {release(local_queue)}};
    for (std::uint64_t n = 0; n < search_.nodes; ++n) all.push_back(work_program(search_, n));
    for (const Queue queue : {shared_queue, local_queue}) {
      for (const bool is_push : {false, true}) {
        for (std::size_t at = 0; at < places; ++at) {
          for (std::size_t count = 1; count <= max_at_once; ++count) {
            all.push_back(access_program(queue, at, count, is_push));
          }
        }
      }
    }
    return all;
  }

 private:
  TreeSearch search_;
};

/// What the warps of the compute unit do next, and what is in the queues.
class Search {
 public:
  explicit Search(const TreeSearch& search)
      : programs_(search),
        children_(grow_tree(search.nodes, search.seed)),
        warps_(search.warps),
        first_(search.queues == TaskQueues::one ? shared_queue : local_queue) {
    tasks_[shared_queue].push_back(0);
  }

  /// Each warp begins by taking this one's lock, to pop.
  [[nodiscard]] Queue first_queue() const { return first_; }

  std::uint32_t next(std::uint32_t number) {
    Warp& warp = warps_[number];
    switch (warp.step) {
      case Step::pops:
        return pop(warp);
      case Step::has_popped:
        return warp.extra.empty() ? work(warp) : lock(warp, local_queue, Step::deposits);
      case Step::deposits:
        return deposit(warp);
      case Step::works:
        ++processed_;
        warp.pending = children_[warp.node];
        return go_on(warp);
      case Step::pushes:
        return push(warp);
      case Step::has_left_local:
        return lock(warp, shared_queue, warp.pending.empty() ? Step::pops : Step::pushes);
      case Step::goes_on:
        return go_on(warp);
      case Step::ends:
        break;
    }
    return end_of_trace;
  }

 private:
  enum class Step {
    pops,  // has the lock, and takes a task if there is one
    has_popped,
    deposits,  // has the local lock, and puts there what it took too much
    works,
    pushes,  // has the lock, and puts children there
    has_left_local,
    goes_on,
    ends,
  };
  struct Warp {
    Step step{Step::pops};
    Queue queue{shared_queue};
    std::uint32_t node{0};
    std::vector<std::uint32_t> extra{};
    std::vector<std::uint32_t> pending{};
    bool has_begun{false};
  };
  static constexpr std::uint32_t end_of_trace = ~std::uint32_t{0};

  static std::uint32_t lock(Warp& warp, Queue queue, Step then) {
    warp.queue = queue;
    warp.step = then;
    return Programs::lock(queue);
  }
  static std::uint32_t leave(Warp& warp, Step then) {
    warp.step = then;
    return Programs::leave(warp.queue);
  }
  std::uint32_t go_on(Warp& warp) {
    return lock(warp, first_, warp.pending.empty() ? Step::pops : Step::pushes);
  }
  static std::uint32_t work(Warp& warp) {
    warp.step = Step::works;
    return Programs::work(warp.node);
  }

  std::uint32_t pop(Warp& warp) {
    if (!warp.has_begun) {
      warp.has_begun = true;
      warp.queue = first_;
    }
    std::vector<std::uint32_t>& tasks = tasks_[warp.queue];
    if (tasks.empty()) {
      if (warp.queue == local_queue) return leave(warp, Step::has_left_local);
      return leave(warp, processed_ == children_.size() ? Step::ends : Step::goes_on);
    }
    const bool pulls = first_ == local_queue && warp.queue == shared_queue;
    const std::size_t count = pulls ? std::min(max_at_once, tasks.size()) : 1;
    warp.node = tasks.back();
    tasks.pop_back();
    warp.extra.clear();
    for (std::size_t i = 1; i < count; ++i) {
      warp.extra.push_back(tasks.back());
      tasks.pop_back();
    }
    warp.step = Step::has_popped;
    return programs_.access(warp.queue, tasks.size(), count, false);
  }

  /// There may be more than the capacity for a moment; the local queue is a ring in memory.
  std::uint32_t deposit(Warp& warp) {
    std::vector<std::uint32_t>& tasks = tasks_[local_queue];
    const std::size_t at = tasks.size();
    const std::size_t count = warp.extra.size();
    tasks.insert(tasks.end(), warp.extra.begin(), warp.extra.end());
    warp.extra.clear();
    warp.step = Step::has_popped;
    return programs_.access(local_queue, at, count, true);
  }

  std::uint32_t push(Warp& warp) {
    std::vector<std::uint32_t>& tasks = tasks_[warp.queue];
    if (warp.queue == local_queue && tasks.size() >= local_capacity) {
      return leave(warp, Step::has_left_local);
    }
    const std::size_t at = tasks.size();
    const std::size_t count = std::min(max_children, warp.pending.size());
    const auto from = warp.pending.end() - static_cast<std::ptrdiff_t>(count);
    tasks.insert(tasks.end(), from, warp.pending.end());
    warp.pending.erase(from, warp.pending.end());
    warp.step = Step::goes_on;
    return programs_.access(warp.queue, at, count, true);
  }

  Programs programs_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<Warp> warps_;
  Queue first_;
  std::array<std::vector<std::uint32_t>, 2> tasks_{};
  std::uint64_t processed_{0};
};

/// How long one compute unit keeps the lock of the shared queue from the others, when nobody else
/// wants it: from the acquire to the end of the release.
std::uint64_t measure_turn(const Machine& machine) {
  Trace trace;
  Program program{simulator::read_clock(0)};
  for (const Program& each :
       {lock_program(shared_queue), access_program(shared_queue, 0, 1, false)}) {
    program.insert(program.end(), each.begin(), each.end());
  }
  program.push_back(simulator::read_clock(1));
  trace.programs = {program};
  trace.groups = {make_group(machine, machine.core.warp_width)};
  trace.locks = {{.address = lock_base}};
  trace.resident = {{.base = head_base, .bytes = line_bytes},
                    {.base = queue_base, .bytes = line_bytes}};
  const simulator::Result result = simulate(machine, trace);
  return result.clock_reads.at(1).cycle - result.clock_reads.at(0).cycle;
}

}  // namespace

std::optional<std::uint64_t> node_of(const TreeSearch& search, std::uint32_t program) {
  const std::uint32_t first = Programs::work(0);
  if (program < first || program - first >= search.nodes) return std::nullopt;
  return program - first;
}

Trace make_tree_search(const Machine& machine, const TreeSearch& search) {
  Trace trace;
  trace.programs = Programs(search).make();
  // All compute units do the same. With one queue they all want its lock all of the time, so that
  // between two turns of this unit each of the others has one, on average: always the same time
  // would be in step with how often a warp tries, and starve some. With a queue of its own a unit
  // finds the shared one rarely taken, at most by one other.
  const std::uint64_t turn = measure_turn(machine);
  const std::uint64_t turns = (machine.core.compute_units - 1) * turn;
  const Latency held =
      search.queues == TaskQueues::one ? Latency{turns / 2, turns + turns / 2} : Latency{0, turn};
  trace.locks = {{.address = lock_base, .held_elsewhere = held},
                 {.address = lock_base + queue_distance}};
  trace.resident = {{.base = head_base, .bytes = line_bytes},
                    {.base = head_base + queue_distance, .bytes = line_bytes},
                    {.base = queue_base, .bytes = places * task_bytes + 4 * line_bytes},
                    {.base = queue_base + queue_distance, .bytes = places * task_bytes},
                    {.base = state_base, .bytes = search.warps * line_bytes}};
  const auto queues = std::make_shared<Search>(search);
  trace.groups = {make_group(machine, search.warps * machine.core.warp_width,
                             Programs::lock(queues->first_queue()))};
  trace.next_program = [queues](std::uint32_t warp, std::uint64_t) { return queues->next(warp); };
  return trace;
}

}  // namespace clprobe::gsi
