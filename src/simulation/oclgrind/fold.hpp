// SPDX-License-Identifier: Apache-2.0
// Conversion of the recorded steps of a group's work-items to warp instructions. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"

namespace clprobe::tracer {

/// Number of a value of the program, which may be an argument; 0 for constants.
using Value = std::uint32_t;

/// The kinds of program instructions. A `renaming` needs no warp instruction: its result is its
/// operand.
enum class Kind : std::uint8_t {
  renaming,
  operation,
  special,
  branch,
  barrier,
  memory,
  copy,      ///< starts an asynchronous copy
  copy_wait  ///< waits for the copies that are named by the accesses of the step
};

/// An instruction of the program, as far as the conversion needs it.
struct Site {
  Kind kind{Kind::renaming};
  Value result{0};
  std::vector<Value> operands{};
  /// Number of operations: the elements of a vector that is computed element by element, otherwise
  /// 1.
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
  std::uint32_t copy{0};     ///< number of an asynchronous copy in its group, from 1; 0: no copy
  std::uint32_t pieces{1};   ///< number of pieces of a copy; each has `bytes` bytes
  std::int64_t distance{0};  ///< distance in bytes between the starts of two pieces
};

/// Positions of work-items in the program: an instruction together with the calls that led to it.
/// If work-items can meet at a position, a work-item that has not reached it is at an earlier
/// position.
class Spots {
 public:
  static constexpr std::uint32_t kernel = 0;

  /// Returns the number of a position. `caller`: position of the call, or `kernel`. `place`: index
  /// of the instruction in its function.
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
  Value chosen{0};  ///< operand whose value a phi takes; 0: all operands count
  /// True for a phi whose operand is an earlier phi of the same block. The phis of a block are
  /// evaluated at the same time, so this phi takes the operand's value before its last renaming.
  bool takes_older{false};
  std::vector<MemoryAccess> accesses{};
};

using Steps = std::vector<Step>;  ///< steps of one work-item, in order

/// A program, and the address tables that its instructions use.
struct FoldedWarp {
  simulator::Program program{};
  std::vector<std::vector<std::uint64_t>> tables{};
};

/// Converts the steps of a warp's work-items to a program. Work-items at the same position execute
/// together, and the work-items at the earliest position execute first. The work-items therefore
/// diverge and reconverge as in the kernel. `is_first`: true for the group's first warp, which
/// starts the group's asynchronous copies and waits for them.
FoldedWarp fold_warp(const std::vector<Site>& sites, const Spots& spots,
                     std::span<const Steps> lanes, bool is_first = true);

/// An instruction before register allocation. Values are numbered from 1 in the order of
/// definition.
struct Draft {
  simulator::Instruction instruction{};
  std::vector<std::uint32_t> reads{};
  std::uint32_t result{0};  ///< value that the instruction defines; 0: none
};

/// Assigns a register to each value from its definition to its last use. Of the free registers, the
/// register that was written longest ago is assigned. Without a free register, the value that was
/// written first loses its register, and counts as ready.
simulator::Program give_registers(const std::vector<Draft>& drafts);

}  // namespace clprobe::tracer
