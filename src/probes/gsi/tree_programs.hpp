// SPDX-License-Identifier: Apache-2.0
// What the warps of a tree search can be given to run. All that any state of the queues can ask for
// is there from the start: a trace does not grow while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "clprobe/trace.hpp"
#include "probes/gsi/cases.hpp"

namespace clprobe::gsi {

inline constexpr std::uint64_t task_bytes = 16;
inline constexpr std::size_t max_at_once = 16;  ///< tasks of one access to a queue
/// Of a queue in memory, a ring: more tasks than that share addresses.
inline constexpr std::size_t queue_places = 64;

/// Queues by number: the one that all compute units share, then one of each.
using Queue = std::uint32_t;
inline constexpr Queue shared_queue = 0;
constexpr Queue queue_of(std::uint64_t unit) { return static_cast<Queue>(unit) + 1; }

class TreePrograms {
 public:
  explicit TreePrograms(const TreeSearch& search) : search_(search) {}

  /// Takes the queue's lock, and looks what is in it.
  static std::uint32_t lock(Queue queue) { return queue; }
  /// Gives the lock back.
  [[nodiscard]] std::uint32_t leave(Queue queue) const {
    return static_cast<std::uint32_t>(queues()) + queue;
  }
  /// Waits for the other warps of the work-group.
  [[nodiscard]] std::uint32_t meet() const { return static_cast<std::uint32_t>(2 * queues()); }
  [[nodiscard]] std::uint32_t work(std::uint64_t node) const {
    return meet() + 1 + static_cast<std::uint32_t>(node);
  }
  /// `count` tasks, 1 to max_at_once, from the places from `at` on, or to them.
  [[nodiscard]] std::uint32_t access(Queue queue, std::size_t at, std::size_t count,
                                     bool is_push) const;
  /// The node that a program works on; nothing for others.
  [[nodiscard]] std::optional<std::uint64_t> node_of(std::uint32_t program) const;

  /// `is_inner`: by node, whether it has children.
  [[nodiscard]] std::vector<simulator::Program> make(const std::vector<bool>& is_inner) const;
  /// The table that the programs use: where the lines of a warp's state are.
  [[nodiscard]] std::vector<std::uint64_t> state_places() const;
  [[nodiscard]] std::vector<simulator::Lock> locks() const;
  /// What the second level has from the start: all but the tree.
  [[nodiscard]] std::vector<simulator::Resident> resident() const;

 private:
  [[nodiscard]] std::uint64_t queues() const { return search_.units + 1; }

  TreeSearch search_;
};

}  // namespace clprobe::gsi
