// SPDX-License-Identifier: Apache-2.0
// Stores on their way out: a buffer that combines those to one line, and what becomes of them by
// the machine's coherence, written through or owned by the first level.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/trace.hpp"
#include "simulator/addresses.hpp"
#include "simulator/cache.hpp"
#include "simulator/far_memory.hpp"
#include "simulator/stash.hpp"

namespace clprobe::simulator {

class Stores {
 public:
  /// Keeps references to all memories.
  Stores(const Machine& machine, Cache& l1, Stash& stash, FarLink& far)
      : entries_(machine.store_buffer.entries),
        owns_lines_(machine.sharing.coherence == Coherence::ownership && l1.exists()),
        l1_(l1),
        stash_(stash),
        far_(far) {}

  /// Whether stores take ownership of lines, which the first level then keeps.
  [[nodiscard]] bool owns_lines() const { return owns_lines_; }

  /// Takes a store, or says in which cycle to try again, when the buffer is full.
  std::optional<std::uint64_t> take(std::uint64_t now, const LineRequest& request,
                                    const Instruction& instruction);
  /// Writes out what is left. Returns when all of it, and of earlier writes, has arrived.
  std::uint64_t flush(std::uint64_t now);
  /// Whether stores of so many lines may make it write out what is there.
  [[nodiscard]] bool may_flush(std::uint64_t now, std::uint64_t lines) const {
    const std::size_t on_their_way = last_write_ > now ? acknowledged_.size() : 0;
    return entries_ != 0 && written_.size() + on_their_way + lines > entries_;
  }
  /// What this unit owns is nowhere else, and must not get lost.
  void write_back(std::uint64_t now, const CacheLine& evicted) {
    if (evicted.is_owned) write_back_owned(now, evicted);
  }
  [[nodiscard]] std::uint64_t lines_written() const { return lines_written_; }

 private:
  struct Written {
    std::uint64_t line{0};
    std::uint32_t sectors{0};
    bool is_remote{false};
    bool is_mapped{false};
  };

  /// Whether this unit owns the line already: a store there goes no further.
  bool is_kept(const LineRequest& request, const Instruction& instruction);
  void keep_owned(std::uint64_t now, const Written& written);
  void write_back_owned(std::uint64_t now, const CacheLine& evicted);

  std::uint64_t entries_;  // 0: without a limit
  bool owns_lines_;
  Cache& l1_;
  Stash& stash_;
  FarLink& far_;
  std::vector<Written> written_{};             // not yet under way
  std::vector<std::uint64_t> acknowledged_{};  // when those under way arrive, rising by position
  std::uint64_t last_write_{0};
  std::uint64_t lines_written_{0};
};

}  // namespace clprobe::simulator
