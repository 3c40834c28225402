// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search as a trace: warps of all compute units take tree nodes from queues behind
// locks, work on them, and put their children back.
//
// The thesis gives no sizes of the search. Assumed, after the program that its authors published
// (HeteroSync's uts): a local queue of 32 tasks, half of one pulled at a time. What is done with a
// node, and how many there are, is what bench/calibrate.py finds nearest to the thesis. Also
// assumed: that queues give their oldest tasks first (else the search goes in depth, local queues
// do not overflow, and most units find nothing to do); nodes of two lines that the host wrote, so
// that they come from main memory; tasks of 16 bytes; some lines of state for each warp in global
// memory, of which each step reads and writes one; and that the work on a node with children writes
// what it finds into the node.
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "probes/gsi/cases.hpp"
#include "probes/gsi/tree_programs.hpp"

namespace clprobe::gsi {
namespace {

using simulator::Machine;
using simulator::Trace;

constexpr std::size_t max_children = 4;

/// Steele, Lea, Flood 2014.
std::uint64_t splitmix(std::uint64_t& seed) {
  std::uint64_t value = seed += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// Children by node: some nodes have one to four, the others none, by chance. Where all branches
/// have died out before all nodes are given away, the root gets one more: with less than one child
/// per node on average it has many, as in UTS's binomial trees (Olivier et al. 2006).
std::vector<std::vector<std::uint32_t>> grow_tree(const TreeSearch& search) {
  constexpr std::uint64_t percent = 100;
  std::uint64_t seed = search.seed;
  std::vector<std::vector<std::uint32_t>> children(search.nodes);
  std::uint32_t next = 1;
  for (std::uint32_t parent = 1; next < search.nodes; ++parent) {
    if (parent >= next) children[0].push_back(next++);
    const std::uint64_t drawn = splitmix(seed);
    if (drawn % percent >= search.inner_percent) continue;
    const std::uint64_t count = 1 + (drawn >> 8U) % max_children;
    for (std::uint64_t i = 0; i < count && next < search.nodes; ++i) {
      children[parent].push_back(next++);
    }
  }
  return children;
}

std::vector<bool> inner_nodes(const TreeSearch& search) {
  std::vector<bool> is_inner;
  for (const auto& children : grow_tree(search)) is_inner.push_back(!children.empty());
  return is_inner;
}

/// What the warps do next, and what is in the queues. One warp, or one of each work-group, is a
/// worker: it goes to the queues.
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

  /// What a warp begins with.
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
    pops,  // has the lock, and takes tasks if there are any
    has_popped,
    takes_local,
    deposits,  // has the local lock, and puts there what it took too much
    hands_out,
    waits,  // for what its group's worker hands out
    starts_work,
    works,
    pushes,  // has the lock, and puts children there
    has_pushed,
    has_left_local,
    goes_on,
    ends,
  };
  struct Warp {
    Step step{Step::pops};
    Queue queue{shared_queue};
    std::size_t worker{0};                 // who goes to the queues for it
    std::vector<std::uint32_t> nodes{};    // a worker's: for the warps of its own to work on
    std::vector<std::uint32_t> extra{};    // for the local queue
    std::vector<std::uint32_t> pending{};  // children to be pushed
  };
  struct Tasks {
    std::deque<std::uint32_t> waiting{};
    std::size_t first{0};  ///< where in memory the oldest one is, as a place of an endless array
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

  /// Takes the oldest `count` tasks of a queue.
  static std::vector<std::uint32_t> take(Tasks& tasks, std::size_t count) {
    std::vector<std::uint32_t> taken;
    for (std::size_t i = 0; i < count; ++i) {
      taken.push_back(tasks.waiting.front());
      tasks.waiting.pop_front();
    }
    tasks.first += count;
    return taken;
  }
  /// Puts the last `count` of `from` behind the tasks of the queue that the warp is at.
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
    // The others of a group wait for its worker, and have to be told.
    return leave(warp, polls_by_group() ? Step::hands_out : Step::ends);
  }

  /// There may be more than the capacity for a moment; the local queue is a ring in memory.
  std::uint32_t deposit(Warp& warp) {
    warp.step = Step::has_popped;
    return put(warp, warp.extra, warp.extra.size());
  }

  std::uint32_t hand_out(Warp& warp, std::size_t number) {
    return polls_by_group() ? meet(warp, Step::starts_work) : start_work(warp, number);
  }

  std::uint32_t start_work(Warp& warp, std::size_t number) {
    const Warp& worker = warps_[warp.worker];
    const std::size_t place = number - warp.worker;
    if (worker.nodes.empty()) return end_of_trace;
    if (place >= worker.nodes.size()) return meet(warp, after_work(number));
    warp.step = Step::works;
    return programs_.work(worker.nodes[place]);
  }

  std::uint32_t end_work(Warp& warp, std::size_t number) {
    ++processed_;
    Warp& worker = warps_[warp.worker];
    const auto& children = children_[worker.nodes[number - warp.worker]];
    worker.pending.insert(worker.pending.end(), children.begin(), children.end());
    return polls_by_group() ? meet(warp, after_work(number)) : go_on(warp, number);
  }

  /// Behind the barrier at the end of a round, in which all others wait for the next one.
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
  std::vector<Tasks> tasks_;  // by queue
  std::size_t nodes_of_worker_;
  std::uint64_t processed_{0};
};

}  // namespace

std::optional<std::uint64_t> node_of(const TreeSearch& search, std::uint32_t program) {
  return TreePrograms(search).node_of(program);
}

Trace make_tree_search(const Machine& machine, const TreeSearch& search) {
  Trace trace;
  const TreePrograms programs(search);
  trace.programs = programs.make(inner_nodes(search));
  trace.tables = {programs.state_places()};
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
