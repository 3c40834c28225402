// SPDX-License-Identifier: Apache-2.0
// What the work-items of a group did, instruction by instruction, as whoever ran them tells it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace clprobe::tracer {

/// A value of the program, which an instruction defines; 0 is none (constants, arguments).
using Value = std::uint32_t;

/// What an instruction of the program becomes. `renaming`: nothing; its result is its operands.
enum class Kind : std::uint8_t {
  renaming,
  operation,
  special,
  branch,
  barrier,
  memory,
  copy,      ///< begins an asynchronous one
  copy_wait  ///< for those that its accesses name
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

/// `own` is private memory: registers, if a compiler had its way.
struct MemoryAccess {
  Space space{Space::global};
  Access access{Access::load};
  std::uint64_t address{0};
  std::uint32_t bytes{4};
  std::uint32_t copy{0};     ///< the number of an asynchronous one in its group, from 1
  std::uint32_t pieces{1};   ///< of a copy, each of `bytes`
  std::int64_t distance{0};  ///< bytes from one piece to the next
};

/// Where work-items stand in the program: the instruction, within the calls around it. Ordered such
/// that whoever is behind has a place before those that it can still meet.
class Spots {
 public:
  static constexpr std::uint32_t kernel = 0;

  /// `place`: of an instruction in its function. `caller`: the spot of the call, or `kernel`.
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

using Steps = std::vector<Step>;  ///< of one work-item, in its order

}  // namespace clprobe::tracer
