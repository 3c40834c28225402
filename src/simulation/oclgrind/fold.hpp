// SPDX-License-Identifier: Apache-2.0
// Conversion of recorded steps of a group's work-items to the instructions of warps. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"

namespace clprobe::tracer {

/// A value of the program; 0 for constants and arguments.
using Value = std::uint32_t;

/// The kinds of instructions. A `renaming` becomes no instruction, since its result is its operand.
enum class Kind : std::uint8_t {
  renaming,
  operation,
  special,
  branch,
  barrier,
  memory,
  copy,      ///< begins an asynchronous copy
  copy_wait  ///< waits for the copies that its accesses name
};

/// An instruction of the program.
struct Site {
  Kind kind{Kind::renaming};
  Value result{0};
  std::vector<Value> operands{};
  /// Number of elements of a vector that is computed element by element.
  std::uint32_t operations{1};
};

enum class Space : std::uint8_t { global, local, own };
enum class Access : std::uint8_t { load, store, atomic, copy_in, copy_out };

/// An access to memory. `own` is private memory, which a compiler would keep in registers.
struct MemoryAccess {
  Space space{Space::global};
  Access access{Access::load};
  std::uint64_t address{0};
  std::uint32_t bytes{4};
  std::uint32_t copy{0};     ///< number of an asynchronous copy in its group, from 1
  std::uint32_t pieces{1};   ///< number of pieces of a copy, each of `bytes`
  std::int64_t distance{0};  ///< distance in bytes between two pieces
};

/// Positions of work-items in the program: an instruction within its calls. In their order, a
/// work-item that is behind precedes the positions where it can meet others.
class Spots {
 public:
  static constexpr std::uint32_t kernel = 0;

  /// Returns the number of a position. `place`: index of an instruction in its function. `caller`:
  /// position of the call, or `kernel`.
  std::uint32_t find(std::uint32_t caller, std::uint32_t place) {
    const auto [found, is_new] =
        numbers_.try_emplace({caller, place}, static_cast<std::uint32_t>(paths_.size()));
    if (is_new) {
      std::vector<std::uint32_t> path = paths_[caller];
      path.push_back(place);
      paths_.push_back(std::move(path));
    }
    return found->second;
  }
  [[nodiscard]] bool is_before(std::uint32_t one, std::uint32_t other) const {
    return one != other && paths_[one] < paths_[other];
  }

 private:
  std::vector<std::vector<std::uint32_t>> paths_{{}};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_{};
};

/// One execution of an instruction by one work-item.
struct Step {
  std::uint32_t spot{0};
  std::uint32_t site{0};
  Value chosen{0};  ///< operand that a phi takes; 0: all operands
  /// True for a phi whose operand is a value before the last renaming, since the phis of a block
  /// are evaluated at once.
  bool takes_older{false};
  std::vector<MemoryAccess> accesses{};
};

using Steps = std::vector<Step>;  ///< steps of one work-item, in order

/// A program, and the tables of its address lists.
struct FoldedWarp {
  simulator::Program program{};
  std::vector<std::vector<std::uint64_t>> tables{};
};

/// Converts the steps of a warp's work-items. Work-items at one position execute together, the
/// positions furthest behind first, so that they diverge and reconverge as the program does. The
/// group's first warp starts its asynchronous copies and waits for them.
FoldedWarp fold_warp(const std::vector<Site>& sites, const Spots& spots,
                     std::span<const Steps> lanes, bool is_first = true);

/// An instruction before register allocation. Values are numbered from 1 in order of definition.
struct Draft {
  simulator::Instruction instruction{};
  std::vector<std::uint32_t> reads{};
  std::uint32_t result{0};  ///< 0: none
};

/// Assigns each value a register from its definition to its last use: the free register that was
/// written longest ago. Without a free register, the oldest value counts as ready and loses its
/// register.
simulator::Program give_registers(const std::vector<Draft>& drafts);

}  // namespace clprobe::tracer
