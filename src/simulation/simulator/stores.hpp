// SPDX-License-Identifier: Apache-2.0
// Stores to the second level. A buffer combines stores to the same line. Depending on the machine's
// coherence, the buffer writes the line through, or the first level takes ownership of the line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"
#include "simulation/simulator/addresses.hpp"
#include "simulation/simulator/cache.hpp"
#include "simulation/simulator/far_memory.hpp"

namespace clprobe::simulator {

/// Lines of global memory that are mapped to local memory from their first access on. Kernels must
/// reserve local memory for these lines. Source: Alsop, GSI, 2016, section 6.2.1, after Komuravelli
/// et al., Stash, 2015.
class Stash {
 public:
  /// Returns the sectors of a line that the stash contains.
  [[nodiscard]] std::uint32_t sectors_of(std::uint64_t line) const {
    const auto found = lines_.find(line);
    return found == lines_.end() ? 0 : found->second.sectors;
  }
  [[nodiscard]] bool owns(std::uint64_t line) const {
    const auto found = lines_.find(line);
    return found != lines_.end() && found->second.is_owned;
  }
  void add(std::uint64_t line, std::uint32_t sectors) { lines_[line].sectors |= sectors; }
  void own(std::uint64_t line) { lines_[line].is_owned = true; }

 private:
  struct Line {
    std::uint32_t sectors{0};
    bool is_owned{false};
  };

  std::unordered_map<std::uint64_t, Line> lines_{};
};

class Stores {
 public:
  /// Keeps references to `l1`, `stash` and `far`.
  Stores(const Machine& machine, Cache& l1, Stash& stash, FarLink& far)
      : entries_(machine.store_buffer.entries),
        owns_lines_(machine.sharing.coherence == Coherence::ownership && l1.exists()),
        l1_(l1),
        stash_(stash),
        far_(far) {}

  /// Returns true if stores take ownership of lines, which then stay in the first level.
  [[nodiscard]] bool owns_lines() const { return owns_lines_; }

  /// Accepts a store. If the buffer is full, instead flushes it and returns the cycle to try again.
  std::optional<std::uint64_t> take(std::uint64_t now, const LineRequest& request,
                                    const Instruction& instruction) {
    if (instruction.is_mapped) stash_.add(request.line, request.sectors);
    if (is_kept(request, instruction)) return std::nullopt;
    const auto same = std::find_if(written_.begin(), written_.end(),
                                   [&](const Written& each) { return each.line == request.line; });
    if (same != written_.end()) {
      same->sectors |= request.sectors;
      return std::nullopt;
    }
    std::erase_if(acknowledged_, [&](std::uint64_t cycle) { return cycle <= now; });
    if (entries_ != 0 && written_.size() + acknowledged_.size() >= entries_) {
      if (!written_.empty()) flush(now);
      return *std::min_element(acknowledged_.begin(), acknowledged_.end());
    }
    written_.push_back({.line = request.line,
                        .sectors = request.sectors,
                        .is_remote = instruction.is_written_elsewhere,
                        .is_mapped = instruction.is_mapped});
    return std::nullopt;
  }
  /// Writes the buffered lines, or takes ownership of them. Returns the cycle of the last answer.
  std::uint64_t flush(std::uint64_t now) {
    for (const Written& each : written_) {
      std::uint64_t arrival = 0;
      if (owns_lines_) {
        arrival = far_.take_ownership(now, each.line, each.is_remote);
        keep_owned(now, each);
      } else {
        arrival = far_.write(now, each.line, each.sectors);
      }
      acknowledged_.push_back(arrival);
      last_write_ = std::max(last_write_, arrival);
    }
    lines_written_ += written_.size();
    written_.clear();
    return std::max(now, last_write_);
  }
  /// Writes an evicted line back if this unit owns it: no other memory has its contents.
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

  /// Performs a store to an owned line, without a buffer entry. Returns false for other lines.
  bool is_kept(const LineRequest& request, const Instruction& instruction) {
    if (!owns_lines_ || instruction.is_written_elsewhere) return false;
    if (instruction.is_mapped) return stash_.owns(request.line);
    CacheLine* const line = l1_.find(request.line);
    if (line == nullptr || !line->is_owned) return false;
    line->sectors |= request.sectors;
    return true;
  }
  void keep_owned(std::uint64_t now, const Written& written) {
    if (written.is_mapped) {
      stash_.own(written.line);
      return;
    }
    CacheLine* found = l1_.find(written.line);
    if (found == nullptr) {
      CacheLine evicted;
      found = l1_.insert(written.line, evicted);
      write_back(now, evicted);
    }
    found->sectors |= written.sectors;
    found->is_owned = true;
  }
  void write_back_owned(std::uint64_t now, const CacheLine& evicted) {
    last_write_ = std::max(last_write_, far_.write_back(now, evicted.line, evicted.sectors));
  }

  std::uint64_t entries_;  // 0: no limit
  bool owns_lines_;
  Cache& l1_;
  Stash& stash_;
  FarLink& far_;
  std::vector<Written> written_{};             // buffered stores that were not sent yet
  std::vector<std::uint64_t> acknowledged_{};  // arrival cycles of the writes in flight
  std::uint64_t last_write_{0};
  std::uint64_t lines_written_{0};
};

}  // namespace clprobe::simulator
