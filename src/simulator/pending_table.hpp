// SPDX-License-Identifier: Apache-2.0
// What keeps track of requests on their way: MSHRs, a pool of requests, or a table of warp
// instructions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/simulator.hpp"

namespace clprobe::simulator {

inline constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// A line that has been asked for.
struct PendingLine {
  std::uint64_t line{0};
  std::uint64_t ready{0};
  std::uint64_t requests{0};  ///< 0: an empty place of the table
  std::uint32_t sectors{0};
};

/// What an answer brings its line to: nothing of the unit's, the first level, local memory for a
/// copy engine, or local memory that the line is mapped to.
enum class Fills : std::uint8_t { nothing, l1, local, stash };

/// An answer on its way, or the end of a table entry without one.
struct Answer {
  std::uint64_t ready{0};
  std::uint64_t order{0};  ///< of equal times the first asked is the first to come
  std::uint64_t line{0};
  std::uint32_t sectors{0};  ///< 0: nothing comes, an entry ends
  Fills fills{Fills::nothing};
  bool ends_entry{false};

  friend bool operator<(const Answer& a, const Answer& b) {
    return a.ready != b.ready ? a.ready > b.ready : a.order > b.order;
  }
};

/// Pending lines by their number: open addressing, linear probing.
class LineTable {
 public:
  LineTable() : places_(64) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }

  PendingLine* find(std::uint64_t line) {
    for (std::size_t i = home_of(line);; i = next(i)) {
      if (places_[i].requests == 0) return nullptr;
      if (places_[i].line == line) return &places_[i];
    }
  }

  /// `line` is not in the table. The reference is good until the next insert or erase.
  PendingLine& insert(std::uint64_t line) {
    if (4 * (size_ + 1) > places_.size()) grow();
    std::size_t i = home_of(line);
    while (places_[i].requests != 0) i = next(i);
    ++size_;
    places_[i] = {.line = line, .requests = 1};
    return places_[i];
  }

  void erase(const PendingLine* entry) {
    auto hole = static_cast<std::size_t>(entry - places_.data());
    --size_;
    // Whoever was pushed past the hole by it moves back, else a search would end there.
    for (std::size_t i = next(hole); places_[i].requests != 0; i = next(i)) {
      const std::size_t home = home_of(places_[i].line);
      const bool may_stay = hole < i ? hole < home && home <= i : hole < home || home <= i;
      if (may_stay) continue;
      places_[hole] = places_[i];
      hole = i;
    }
    places_[hole].requests = 0;
  }

 private:
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (places_.size() - 1); }
  [[nodiscard]] std::size_t home_of(std::uint64_t line) const {
    return static_cast<std::size_t>((line * 0x9e3779b97f4a7c15U) >> 32U) & (places_.size() - 1);
  }
  void grow() {
    std::vector<PendingLine> old(places_.size() * 2);
    old.swap(places_);
    for (const PendingLine& each : old) {
      if (each.requests == 0) continue;
      std::size_t i = home_of(each.line);
      while (places_[i].requests != 0) i = next(i);
      places_[i] = each;
    }
  }

  std::vector<PendingLine> places_;
  std::uint64_t size_{0};
};

/// Answers in the order in which they come. Most are pushed in that order: these need no heap.
class Answers {
 public:
  Answers() : queue_(64) {}

  [[nodiscard]] std::uint64_t next() const { return next_; }
  void push(const Answer& answer) {
    ++order_;
    next_ = std::min(next_, answer.ready);
    if (first_ == end_ || queue_[(end_ - 1) & mask()].ready <= answer.ready) {
      if (end_ - first_ == queue_.size()) grow();
      Answer& last = queue_[end_++ & mask()];
      last = answer;
      last.order = order_;
      return;
    }
    heap_.push_back(answer);
    heap_.back().order = order_;
    std::push_heap(heap_.begin(), heap_.end());
  }
  /// There is one.
  Answer pop() {
    const bool has_queued = first_ != end_;
    const Answer& queued = queue_[first_ & mask()];
    const bool takes_heap = !has_queued || (!heap_.empty() && queued < heap_.front());
    const Answer answer = takes_heap ? pop_heap() : queued;
    if (!takes_heap) ++first_;
    next_ = first_ == end_ ? never : queue_[first_ & mask()].ready;
    if (!heap_.empty()) next_ = std::min(next_, heap_.front().ready);
    return answer;
  }

 private:
  Answer pop_heap() {
    std::pop_heap(heap_.begin(), heap_.end());
    const Answer answer = heap_.back();
    heap_.pop_back();
    return answer;
  }
  [[nodiscard]] std::size_t mask() const { return queue_.size() - 1; }
  void grow() {
    std::vector<Answer> larger(queue_.size() * 2);
    for (std::size_t i = first_; i != end_; ++i) {
      larger[i & (larger.size() - 1)] = queue_[i & mask()];
    }
    queue_ = std::move(larger);
  }

  std::vector<Answer> queue_;  // rising; a ring, from `first_` to `end_`, which only count up
  std::size_t first_{0};
  std::size_t end_{0};
  std::vector<Answer> heap_{};  // those that come before one that was pushed earlier
  std::uint64_t order_{0};
  std::uint64_t next_{never};  // when the first one comes, which every cycle asks for
};

class PendingTable {
 public:
  explicit PendingTable(const Pending& config) : config_(config) {}

  [[nodiscard]] PendingKind kind() const { return config_.kind; }
  [[nodiscard]] bool is_full() const { return config_.entries != 0 && in_use_ >= config_.entries; }
  [[nodiscard]] std::uint64_t max_in_use() const { return max_in_use_; }
  [[nodiscard]] std::uint64_t next_answer() const { return answers_.next(); }
  [[nodiscard]] bool can_merge(const PendingLine& line) const {
    return config_.mergers == 0 || line.requests < config_.mergers;
  }
  /// The MSHR of a line; null without one, and always where lines have none.
  PendingLine* find(std::uint64_t line) {
    return config_.kind == PendingKind::mshr ? lines_.find(line) : nullptr;
  }

  /// Takes an entry for a warp instruction, to be ended by `end_at`.
  void take() { max_in_use_ = std::max(max_in_use_, ++in_use_); }
  void end_at(std::uint64_t cycle) { answers_.push({.ready = cycle, .ends_entry = true}); }

  /// A new request; takes an entry unless entries are for warp instructions.
  void add(std::uint64_t line, std::uint32_t sectors, std::uint64_t ready, Fills fills) {
    const bool has_entry = config_.kind != PendingKind::prt;
    if (has_entry) take();
    if (config_.kind == PendingKind::mshr) {
      PendingLine& entry = lines_.insert(line);
      entry.ready = ready;
      entry.sectors = sectors;
    }
    answers_.push({.ready = ready,
                   .line = line,
                   .sectors = sectors,
                   .fills = fills,
                   .ends_entry = has_entry});
  }

  /// One more request for more sectors of a line that has an MSHR.
  void extend(PendingLine& entry, std::uint32_t sectors, std::uint64_t ready, Fills fills) {
    entry.sectors |= sectors;
    entry.ready = std::max(entry.ready, ready);
    answers_.push({.ready = ready,
                   .line = entry.line,
                   .sectors = sectors,
                   .fills = fills,
                   .ends_entry = true});
  }

  /// Calls `fill(answer)` for what has come until `cycle`, in order, and frees the entries.
  template <typename Fill>
  void receive(std::uint64_t cycle, Fill fill) {
    while (answers_.next() <= cycle) {
      const Answer answer = answers_.pop();
      if (answer.ends_entry) end(answer);
      if (answer.fills != Fills::nothing) fill(answer);
    }
  }

 private:
  void end(const Answer& answer) {
    if (config_.kind != PendingKind::mshr || answer.sectors == 0) {
      --in_use_;
      return;
    }
    const PendingLine* const entry = lines_.find(answer.line);
    // Of several answers for one line the last one ends the entry; equal times end it at once.
    if (entry == nullptr || entry->ready > answer.ready) return;
    lines_.erase(entry);
    --in_use_;
  }

  Pending config_;
  LineTable lines_{};
  Answers answers_{};
  std::uint64_t in_use_{0};
  std::uint64_t max_in_use_{0};
};

}  // namespace clprobe::simulator
