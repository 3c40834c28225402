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
  static constexpr std::uint32_t none{std::numeric_limits<std::uint32_t>::max()};

  std::uint64_t line{0};
  std::uint64_t ready{0};
  std::uint32_t requests{0};
  std::uint32_t sectors{0};
  std::uint32_t next{none};  ///< the place that a search goes on at
};

/// What an answer brings its line to: nothing of the unit's, the first level, local memory for a
/// copy engine, or local memory that the line is mapped to.
enum class Fills : std::uint8_t { nothing, l1, local, stash };

/// What of the table an answer ends, if it is the last one: an entry, or a line's.
enum class Ends : std::uint8_t { nothing, entry, line };

/// An answer on its way, or the end of a table entry without one.
struct Answer {
  std::uint64_t ready{0};
  std::uint64_t order{0};  ///< of equal times the first asked is the first to come
  std::uint64_t line{0};
  std::uint32_t sectors{0};
  Fills fills{Fills::nothing};
  Ends ends{Ends::nothing};

  friend bool operator<(const Answer& a, const Answer& b) {
    return a.ready != b.ready ? a.ready > b.ready : a.order > b.order;
  }
};

/// Pending lines by their number. Each stays at its place; those of one bucket are a chain.
class LineTable {
 public:
  /// Neighbours, which are asked for together, are in buckets of their own, and so are lines at a
  /// distance of a power of two: which way a search goes is then always the same.
  [[nodiscard]] std::size_t bucket_of(std::uint64_t line) const {
    return static_cast<std::size_t>(line ^ (line >> 9U) ^ (line >> 18U)) & mask_;
  }

  [[gnu::always_inline]] PendingLine* find(std::uint64_t line) {
    std::uint32_t i = first_[bucket_of(line)];
    while (i != none && places_[i].line != line) i = places_[i].next;
    return i == none ? nullptr : &places_[i];
  }

  /// `line` is not in the table. The reference is good until the next
  /// insert; its sectors and time are to be set.
  [[gnu::always_inline]] PendingLine& insert(std::uint64_t line) {
    if (free_ == none) grow();
    const std::uint32_t i = free_;
    PendingLine& entry = places_[i];
    free_ = entry.next;
    std::uint32_t& first = first_[bucket_of(line)];
    entry.line = line;
    entry.requests = 1;
    entry.next = std::exchange(first, i);
    return entry;
  }

  /// Erases the line if its value is there by `cycle`, and says whether it was.
  [[gnu::always_inline]] bool erase(std::uint64_t line, std::uint64_t cycle) {
    std::uint32_t* link = &first_[bucket_of(line)];
    while (*link != none && places_[*link].line != line) link = &places_[*link].next;
    if (*link == none || places_[*link].ready > cycle) return false;
    const std::uint32_t i = *link;
    *link = std::exchange(places_[i].next, std::exchange(free_, i));
    return true;
  }

 private:
  static constexpr std::uint32_t none = PendingLine::none;

  /// All places are taken, a quarter as many as there are buckets.
  void grow() {
    mask_ = 2 * mask_ + 1;
    first_.assign(mask_ + 1, none);
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      places_[i].next = std::exchange(first_[bucket_of(places_[i].line)], i);
    }
    for (std::size_t i = places_.size(); i < (mask_ + 1) / 4; ++i) {
      places_.push_back({.next = std::exchange(free_, static_cast<std::uint32_t>(i))});
    }
  }

  std::vector<PendingLine> places_{};
  std::uint32_t free_{none};  // the first of those that are empty, a chain as well
  std::size_t mask_{31};
  std::vector<std::uint32_t> first_ = std::vector<std::uint32_t>(mask_ + 1, none);  // by bucket
};

/// Answers in the order in which they come. Most are pushed in that order: these need no heap.
class Answers {
 public:
  Answers() : queue_(64) {}

  [[nodiscard]] std::uint64_t next() const { return next_; }
  [[gnu::always_inline]] void push(Answer answer) {
    answer.order = ++order_;
    next_ = std::min(next_, answer.ready);
    if (first_ != end_ && answer.ready < last_ready_) {
      push_early(answer.ready, answer.order, answer.line, answer.sectors, answer.fills,
                 answer.ends);
      return;
    }
    if (end_ - first_ > mask_) grow();
    last_ready_ = answer.ready;
    // One by one: to read at once what was just written in parts would take longer.
    Answer& last = queue_[end_++ & mask()];
    last.ready = answer.ready;
    last.order = answer.order;
    last.line = answer.line;
    last.sectors = answer.sectors;
    last.fills = answer.fills;
    last.ends = answer.ends;
  }
  /// Takes the first one away, which there is. It is good until the next push or take.
  [[gnu::always_inline]] const Answer& take() {
    if (!heap_.empty() && is_heap_first()) return take_early();
    const Answer& first = queue_[first_++ & mask()];
    find_next();
    return first;
  }

 private:
  /// Has all parts of the answer apart, so that nobody needs it as a whole who does not come here.
  void push_early(std::uint64_t ready, std::uint64_t order, std::uint64_t line,
                  std::uint32_t sectors, Fills fills, Ends ends) {
    heap_.push_back({ready, order, line, sectors, fills, ends});
    std::push_heap(heap_.begin(), heap_.end());
  }
  [[gnu::always_inline]] void find_next() {
    next_ = first_ == end_ ? never : queue_[first_ & mask()].ready;
    if (!heap_.empty()) next_ = std::min(next_, heap_.front().ready);
  }
  [[nodiscard]] bool is_heap_first() const {
    const bool has_queued = first_ != end_;
    return !has_queued || queue_[first_ & mask()] < heap_.front();
  }
  [[gnu::noinline]] const Answer& take_early() {
    std::pop_heap(heap_.begin(), heap_.end());
    taken_ = heap_.back();
    heap_.pop_back();
    find_next();
    return taken_;
  }
  [[nodiscard]] std::size_t mask() const { return mask_; }
  void grow() {
    std::vector<Answer> larger(queue_.size() * 2);
    for (std::size_t i = first_; i != end_; ++i) {
      larger[i & (larger.size() - 1)] = queue_[i & mask()];
    }
    queue_ = std::move(larger);
    mask_ = queue_.size() - 1;
  }

  std::vector<Answer> queue_;  // rising; a ring, from `first_` to `end_`, which only count up
  std::size_t mask_{63};
  std::size_t first_{0};
  std::size_t end_{0};
  std::uint64_t last_ready_{0};  // of the queue
  std::vector<Answer> heap_{};   // those that come before one that was pushed earlier
  Answer taken_{};               // the last one that was taken of these
  std::uint64_t order_{0};
  std::uint64_t next_{never};  // when the first one comes, which every cycle asks for
};

class PendingTable {
 public:
  explicit PendingTable(const Pending& config)
      : config_(config), entries_(config.entries == 0 ? never : config.entries) {}

  [[nodiscard]] PendingKind kind() const { return config_.kind; }
  [[nodiscard]] bool is_full() const { return in_use_ >= entries_; }
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
  void take() {
    if (++in_use_ > max_in_use_) max_in_use_ = in_use_;
  }
  void end_at(std::uint64_t cycle) { answers_.push({.ready = cycle, .ends = Ends::entry}); }

  /// A new request; takes an entry unless entries are for warp instructions.
  void add(std::uint64_t line, std::uint32_t sectors, std::uint64_t ready, Fills fills) {
    Ends ends = Ends::nothing;
    if (config_.kind != PendingKind::prt) {
      take();
      ends = Ends::entry;
    }
    if (config_.kind == PendingKind::mshr) {
      PendingLine& entry = lines_.insert(line);
      entry.ready = ready;
      entry.sectors = sectors;
      ends = Ends::line;
    }
    answers_.push({.ready = ready, .line = line, .sectors = sectors, .fills = fills, .ends = ends});
  }
  /// One more request for more sectors of a line that has an MSHR.
  void extend(PendingLine& entry, std::uint32_t sectors, std::uint64_t ready, Fills fills) {
    entry.sectors |= sectors;
    entry.ready = std::max(entry.ready, ready);
    answers_.push({.ready = ready,
                   .line = entry.line,
                   .sectors = sectors,
                   .fills = fills,
                   .ends = Ends::line});
  }

  /// Calls `fill(answer)`, which adds nothing here, for what has come until `cycle`, in order, and
  /// frees the entries.
  template <typename Fill>
  [[gnu::always_inline]] void receive(std::uint64_t cycle, Fill fill) {
    while (answers_.next() <= cycle) {
      const Answer& answer = answers_.take();
      // Of several answers for one line the last one ends the entry; equal times end it at once.
      if (answer.ends == Ends::line ? lines_.erase(answer.line, answer.ready)
                                    : answer.ends == Ends::entry) {
        --in_use_;
      }
      fill(answer);
    }
  }

 private:
  Pending config_;
  std::uint64_t entries_;
  LineTable lines_{};
  Answers answers_{};
  std::uint64_t in_use_{0};
  std::uint64_t max_in_use_{0};
};

}  // namespace clprobe::simulator
