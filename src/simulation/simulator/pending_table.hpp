// SPDX-License-Identifier: Apache-2.0
// The table of requests in flight: MSHRs, a pool of requests, or a table of warp instructions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {

inline constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// A line with a request in flight, and its MSHR's state.
struct PendingLine {
  std::uint64_t line{0};
  std::uint64_t ready{0};
  std::uint32_t requests{0};
  std::uint32_t sectors{0};
};

/// The memory that an answer fills: none of this unit, the first level, local memory for a copy, or
/// local memory to which the line is mapped (stash).
enum class Fills : std::uint8_t { nothing, l1, local, stash };

/// The table entry that an answer frees: none, the request's entry, or the MSHR of its line.
enum class Ends : std::uint8_t { nothing, entry, line };

/// An answer in flight. For a table of warp instructions, also the end of an entry, without data.
struct Answer {
  std::uint64_t ready{0};
  std::uint64_t order{0};  ///< order of requests, which decides if `ready` is equal
  std::uint64_t line{0};
  std::uint32_t sectors{0};
  Fills fills{Fills::nothing};
  Ends ends{Ends::nothing};

  friend bool operator<(const Answer& a, const Answer& b) {
    return a.ready != b.ready ? a.ready > b.ready : a.order > b.order;
  }
};

class PendingTable {
 public:
  explicit PendingTable(const Pending& config)
      : config_(config), entries_(config.entries == 0 ? never : config.entries) {}

  [[nodiscard]] PendingKind kind() const { return config_.kind; }
  [[nodiscard]] bool is_full() const { return in_use_ >= entries_; }
  [[nodiscard]] std::uint64_t max_in_use() const { return max_in_use_; }
  /// Returns the cycle of the next answer; `never` without an answer.
  [[nodiscard]] std::uint64_t next_answer() const {
    return answers_.empty() ? never : answers_.top().ready;
  }
  [[nodiscard]] bool can_merge(const PendingLine& line) const {
    return config_.mergers == 0 || line.requests < config_.mergers;
  }
  /// Returns the MSHR of a line. Returns null if the line has no MSHR, and in other kinds of
  /// tables.
  PendingLine* find(std::uint64_t line) {
    const auto found = lines_.find(line);
    return found == lines_.end() ? nullptr : &found->second;
  }

  /// Takes an entry for a warp instruction. end_at() frees the entry.
  void take() {
    if (++in_use_ > max_in_use_) max_in_use_ = in_use_;
  }
  void end_at(std::uint64_t cycle) { push({.ready = cycle, .ends = Ends::entry}); }

  /// Adds a request for a line without an MSHR. The request takes an entry, except in a table of
  /// warp instructions.
  void add(std::uint64_t line, std::uint32_t sectors, std::uint64_t ready, Fills fills) {
    Ends ends = Ends::nothing;
    if (config_.kind != PendingKind::prt) {
      take();
      ends = Ends::entry;
    }
    if (config_.kind == PendingKind::mshr) {
      lines_[line] = {.line = line, .ready = ready, .requests = 1, .sectors = sectors};
      ends = Ends::line;
    }
    push({.ready = ready, .line = line, .sectors = sectors, .fills = fills, .ends = ends});
  }
  /// Adds a request for further sectors of a line that already has an MSHR.
  void extend(PendingLine& entry, std::uint32_t sectors, std::uint64_t ready, Fills fills) {
    entry.sectors |= sectors;
    entry.ready = std::max(entry.ready, ready);
    push({.ready = ready,
          .line = entry.line,
          .sectors = sectors,
          .fills = fills,
          .ends = Ends::line});
  }

  /// Calls `fill(answer)` for all answers up to `cycle`, in order, and frees their entries. `fill`
  /// must not add requests.
  template <typename Fill>
  void receive(std::uint64_t cycle, Fill fill) {
    while (next_answer() <= cycle) {
      const Answer answer = answers_.top();
      answers_.pop();
      if (answer.ends == Ends::entry || (answer.ends == Ends::line && end_line(answer))) --in_use_;
      fill(answer);
    }
  }

 private:
  void push(Answer answer) {
    answer.order = ++order_;
    answers_.push(answer);
  }
  /// Frees the MSHR of a line with the line's last answer; returns true if it did. If two or more
  /// answers for the line arrive in the same cycle, the first answer frees the MSHR.
  bool end_line(const Answer& answer) {
    const auto found = lines_.find(answer.line);
    if (found == lines_.end() || found->second.ready > answer.ready) return false;
    lines_.erase(found);
    return true;
  }

  Pending config_;
  std::uint64_t entries_;
  std::unordered_map<std::uint64_t, PendingLine> lines_{};  // MSHRs by line; empty for other kinds
  std::priority_queue<Answer> answers_{};
  std::uint64_t order_{0};
  std::uint64_t in_use_{0};
  std::uint64_t max_in_use_{0};
};

}  // namespace clprobe::simulator
