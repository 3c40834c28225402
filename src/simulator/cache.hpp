// SPDX-License-Identifier: Apache-2.0
// Tags of a set-associative cache with sectors; the least recently used line goes first. Sets come
// into being when they are touched, since most runs touch a small part of a large cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace clprobe::simulator {

struct CacheLine {
  std::uint64_t line{0};
  std::uint64_t ready{0};  ///< cycle from which its contents are there
  std::uint64_t epoch{0};
  std::uint32_t sectors{0};
  bool is_dirty{false};
  bool is_owned{false};
};

class Cache {
 public:
  /// `bytes` may be 0: then nothing is ever found or kept.
  Cache(std::uint64_t bytes, std::uint64_t line_bytes, std::uint64_t ways)
      : ways_(ways),
        sets_(bytes / (line_bytes * ways)),
        mask_(std::has_single_bit(sets_) ? sets_ - 1 : 0),
        first_(sets_, untouched) {}

  [[nodiscard]] bool exists() const { return sets_ > 0; }

  /// The line, now the most recently used of its set; null when it is not there.
  [[gnu::always_inline]] CacheLine* find(std::uint64_t line) {
    if (!exists()) return nullptr;
    const Set set = set_of(line);
    if (set.ways == nullptr) return nullptr;
    CacheLine* const found = search(set, line);
    return found == nullptr || !is_valid(*found) ? nullptr : found;
  }

  /// A place for `line`, which is not there. `evicted` gets what had to go, if that was dirty or
  /// owned, and stays as it is if not.
  /// Null when there is no cache.
  CacheLine* insert(std::uint64_t line, CacheLine& evicted) {
    return exists() ? &put(line, evicted) : nullptr;
  }
  /// The same in a cache that exists.
  CacheLine& put(std::uint64_t line, CacheLine& evicted) {
    return fill_oldest(set_for_new(line), line, &evicted);
  }
  /// The same where no line is dirty or owned.
  [[gnu::always_inline]] CacheLine& put(std::uint64_t line) {
    return fill_oldest(set_for_new(line), line, nullptr);
  }

  /// The line as `find` has it, or else a place as of `put`, in one search where that will do.
  CacheLine& find_or_put(std::uint64_t line, CacheLine& evicted) {
    // Once anything was invalid, both have to look at more than tags.
    if (epoch_ > 0) {
      CacheLine* const found = find(line);
      return found == nullptr ? put(line, evicted) : *found;
    }
    const Set set = touched_set_of(line);
    CacheLine* const found = search(set, line);
    return found == nullptr ? fill_oldest(set, line, &evicted) : *found;
  }

  /// Forgets a line, whoever owns it.
  void drop(std::uint64_t line) {
    if (!exists()) return;
    const Set set = set_of(line);
    if (set.ways == nullptr) return;
    for (std::uint64_t i = 0; i < ways_; ++i) {
      if (set.ways[i].tag == line + 1) set.ways[i] = {};
    }
  }

  /// Forgets all lines but the owned ones.
  void invalidate() { ++epoch_; }

 private:
  static constexpr std::uint64_t max_few_ways = 8;
  static constexpr std::uint32_t untouched = std::numeric_limits<std::uint32_t>::max();

  /// What a search reads, apart from the rest: it is most of the time of a simulation.
  struct Way {
    std::uint64_t tag{0};   // the line + 1; 0: empty
    std::uint64_t used{0};  // when last, in touches
  };
  /// Null where it was never touched.
  struct Set {
    Way* ways{nullptr};
    CacheLine* lines{nullptr};
  };

  /// A division is as long as the rest of a search.
  [[nodiscard]] std::uint64_t number_of(std::uint64_t line) const {
    if (mask_ != 0) [[likely]] {
      return line & mask_;
    }
    return line % sets_;
  }
  [[gnu::always_inline]] Set set_of(std::uint64_t line) {
    const std::uint32_t first = first_[number_of(line)];
    return first == untouched ? Set{} : Set{&all_ways_[first], &all_lines_[first]};
  }
  [[gnu::always_inline]] Set touched_set_of(std::uint64_t line) {
    std::uint32_t& first = first_[number_of(line)];
    if (first == untouched) first = touch_next();
    return {&all_ways_[first], &all_lines_[first]};
  }
  /// Returns the first of its ways.
  [[gnu::noinline]] std::uint32_t touch_next() {
    // Memory that is not used costs next to nothing, and what stands there need not move.
    constexpr std::uint64_t max_reserved = std::uint64_t{1} << 20U;
    if (all_ways_.empty()) {
      all_ways_.reserve(std::min(sets_ * ways_, max_reserved));
      all_lines_.reserve(std::min(sets_ * ways_, max_reserved));
    }
    const std::size_t first = all_ways_.size();
    all_ways_.resize(first + ways_);
    all_lines_.resize(first + ways_);
    return static_cast<std::uint32_t>(first);
  }

  [[gnu::always_inline]] Set set_for_new(std::uint64_t line) {
    const Set set = touched_set_of(line);
    // Two ways must not have one tag, so that what became invalid goes at once.
    if (epoch_ > 0) empty_invalid(set);
    return set;
  }
  void empty_invalid(const Set& set) const {
    for (std::uint64_t i = 0; i < ways_; ++i) {
      if (set.ways[i].tag != 0 && !is_valid(set.lines[i])) set.ways[i] = {};
    }
  }
  /// Null when no way has its tag.
  [[gnu::always_inline]] CacheLine* search(const Set& set, std::uint64_t line) {
    Way* way = set.ways;
    Way* const end = way + ways_;
    do {
      if (way->tag == line + 1) {
        way->used = ++touches_;
        return &set.lines[way - set.ways];
      }
    } while (++way != end);
    return nullptr;
  }
  /// Which one it is nobody can guess.
  [[gnu::always_inline]] Way* oldest_of_few(const Set& set) const {
    Way* oldest = set.ways;
    std::uint64_t used = oldest->used;
    for (Way* way = set.ways + 1; way != set.ways + ways_; ++way) {
      const bool is_older = way->used < used;
      oldest = is_older ? way : oldest;
      used = is_older ? way->used : used;
    }
    return oldest;
  }
  /// Of those of large caches, for which memory is waited for, a guess is worth more.
  [[gnu::noinline]] Way* oldest_of_many(const Set& set) const {
    Way* oldest = set.ways;
    for (Way* way = set.ways + 1; way != set.ways + ways_; ++way) {
      if (way->used < oldest->used) [[unlikely]] {
        oldest = way;
      }
    }
    return oldest;
  }
  [[gnu::always_inline]] CacheLine& fill_oldest(const Set& set, std::uint64_t line,
                                                CacheLine* evicted) {
    Way* const oldest = ways_ <= max_few_ways ? oldest_of_few(set) : oldest_of_many(set);
    CacheLine& taken = set.lines[oldest - set.ways];
    if (evicted != nullptr && oldest->tag != 0 && (taken.is_dirty || taken.is_owned)) {
      *evicted = taken;
    }
    oldest->tag = line + 1;
    oldest->used = ++touches_;
    taken.line = line;
    taken.ready = 0;
    taken.epoch = epoch_;
    taken.sectors = 0;
    taken.is_dirty = false;
    taken.is_owned = false;
    return taken;
  }
  [[nodiscard]] bool is_valid(const CacheLine& line) const {
    return line.epoch == epoch_ || line.is_owned;
  }

  std::uint64_t ways_;
  std::uint64_t sets_;
  std::uint64_t mask_;  ///< 0: the sets are no power of two
  std::uint64_t touches_{0};
  std::uint64_t epoch_{0};
  std::vector<std::uint32_t> first_;  // by set, of its ways; sets stand in the order of touches
  std::vector<Way> all_ways_{};
  std::vector<CacheLine> all_lines_{};
};

}  // namespace clprobe::simulator
