// SPDX-License-Identifier: Apache-2.0
// The steps of the work-items of a group, instruction by instruction, as whoever runs them records
// them, and the instructions of the warps that take these steps. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "simulation/api/simulator.hpp"

namespace clprobe::tracer {

/// A value of the program, which an instruction defines; 0 is none (constants, arguments).
using Value = std::uint32_t;

/// The kinds of instructions. `renaming` becomes no instruction: its result is its operands.
enum class Kind : std::uint8_t {
  renaming,
  operation,
  special,
  branch,
  barrier,
  memory,
  copy,      ///< begins an asynchronous one
  copy_wait  ///< waits for the copies that its accesses name
};

/// An instruction of the program.
struct Site {
  Kind kind{Kind::renaming};
  Value result{0};
  std::vector<Value> operands{};
  std::uint32_t operations{1};  ///< elements of a vector that is computed one by one
};

enum class Space : std::uint8_t { global, local, own };
enum class Access : std::uint8_t { load, store, atomic, copy_in, copy_out };

/// An access to memory. `own` is private memory, which a compiler would keep in registers.
struct MemoryAccess {
  Space space{Space::global};
  Access access{Access::load};
  std::uint64_t address{0};
  std::uint32_t bytes{4};
  std::uint32_t copy{0};     ///< the number of an asynchronous one in its group, from 1
  std::uint32_t pieces{1};   ///< pieces of a copy, each of `bytes`
  std::int64_t distance{0};  ///< bytes from one piece to the next
};

/// Spots of the program where work-items stand: an instruction within the calls around it. Their
/// order is such that a work-item behind others has a spot before those where it can meet them.
class Spots {
 public:
  static constexpr std::uint32_t kernel = 0;

  /// `place`: the place of an instruction in its function. `caller`: the spot of the call, or
  /// `kernel`.
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

/// One execution of a site by one work-item.
struct Step {
  std::uint32_t spot{0};
  std::uint32_t site{0};
  Value chosen{0};  ///< the operand that a phi takes; 0: all of the site's
  /// Phis of a block are taken at once: this one's operand is what it was before the last renaming.
  bool takes_older{false};
  std::vector<MemoryAccess> accesses{};
};

using Steps = std::vector<Step>;  ///< the steps of one work-item, in its order

/// A program, and the tables that its lists of addresses are in.
struct FoldedWarp {
  simulator::Program program{};
  std::vector<std::vector<std::uint64_t>> tables{};
};

/// Work-items that stand at the same spot execute together, those that are furthest behind first:
/// they diverge where their branches do, and meet again where the program lets them. An
/// asynchronous copy, which all work-items of a group begin, is begun and waited for by the group's
/// first warp.
FoldedWarp fold_warp(const std::vector<Site>& sites, const Spots& spots,
                     std::span<const Steps> lanes, bool is_first = true);

/// An instruction of a warp before it has registers. Values are numbered from 1 in the order in
/// which they are made.
struct Draft {
  simulator::Instruction instruction{};
  std::vector<std::uint32_t> reads{};
  std::uint32_t result{0};  ///< 0: none
};

/// Gives each value a register from its making to its last use: the free one that was written
/// longest ago. Where all are in use, the oldest value counts as ready and loses its register.
simulator::Program give_registers(const std::vector<Draft>& drafts);

}  // namespace clprobe::tracer
