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
        last_place_(place_bits * (ways - 1)),
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
    return fill_oldest(set_for_new(line), line, evicted);
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
    return found == nullptr ? fill_oldest(set, line, evicted) : *found;
  }

  /// Forgets a line, whoever owns it.
  void drop(std::uint64_t line) {
    if (!exists()) return;
    const Set set = set_of(line);
    if (set.ways == nullptr) return;
    for (std::uint64_t i = 0; i < ways_; ++i) {
      if (set.ways[i].tag == line + 1) empty(set, i);
    }
  }

  /// Forgets all lines but the owned ones.
  void invalidate() { ++epoch_; }

 private:
  static constexpr std::uint64_t place_bits = 8;
  static constexpr std::uint64_t place_mask = 255;
  static constexpr std::uint64_t first_order = 0x0706050403020100U;
  static constexpr std::uint32_t untouched = std::numeric_limits<std::uint32_t>::max();

  /// What a search reads, apart from the rest: it is most of the time of a simulation.
  struct Way {
    std::uint64_t tag{0};   // the line + 1; 0: empty
    std::uint64_t used{0};  // when last, in touches; of few ways the first has the order of all
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
    if (has_few_ways()) all_ways_[first].used = first_order;
    return static_cast<std::uint32_t>(first);
  }

  [[gnu::always_inline]] Set set_for_new(std::uint64_t line) {
    const Set set = touched_set_of(line);
    // Two ways must not have one tag, so that what became invalid goes at once.
    if (epoch_ > 0) empty_invalid(set);
    return set;
  }
  void empty_invalid(const Set& set) {
    for (std::uint64_t i = 0; i < ways_; ++i) {
      if (set.ways[i].tag != 0 && !is_valid(set.lines[i])) empty(set, i);
    }
  }
  /// Null when no way has its tag.
  [[gnu::always_inline]] CacheLine* search(const Set& set, std::uint64_t line) {
    Way* way = set.ways;
    Way* const end = way + ways_;
    do {
      if (way->tag == line + 1) {
        const auto number = static_cast<std::size_t>(way - set.ways);
        touch(set, number);
        return &set.lines[number];
      }
    } while (++way != end);
    return nullptr;
  }
  /// Few ways are in the order of their use, a byte each, the last one used first: to take the
  /// oldest, which nobody can guess, is then no search. Many have a time each.
  [[nodiscard]] bool has_few_ways() const { return last_place_ < 64; }
  void touch(const Set& set, std::size_t way) {
    if (!has_few_ways()) {
      set.ways[way].used = ++touches_;
      return;
    }
    std::uint64_t& order = set.ways->used;
    std::uint64_t place = 0;
    while (((order >> place) & place_mask) != way) place += place_bits;
    const std::uint64_t newer = order & ((std::uint64_t{1} << place) - 1);
    const std::uint64_t older = order >> place >> place_bits << place_bits << place;
    order = older | newer << place_bits | way;
  }
  /// What is empty is taken first.
  void empty(const Set& set, std::size_t way) {
    set.ways[way].tag = 0;
    if (!has_few_ways()) {
      set.ways[way].used = 0;
      return;
    }
    touch(set, way);
    std::uint64_t& order = set.ways->used;
    const std::uint64_t others = (order >> place_bits) & ((std::uint64_t{1} << last_place_) - 1);
    order = others | std::uint64_t{way} << last_place_;
  }
  [[gnu::always_inline]] std::size_t take_oldest(const Set& set) {
    if (!has_few_ways()) return take_oldest_of_many(set);
    std::uint64_t& order = set.ways->used;
    const std::uint64_t oldest = (order >> last_place_) & place_mask;
    order = order << place_bits | oldest;
    return oldest;
  }
  /// Of those of large caches, for which memory is waited for, a guess is worth more.
  [[gnu::noinline]] std::size_t take_oldest_of_many(const Set& set) {
    Way* oldest = set.ways;
    for (Way* way = set.ways + 1; way != set.ways + ways_; ++way) {
      if (way->used < oldest->used) [[unlikely]] {
        oldest = way;
      }
    }
    oldest->used = ++touches_;
    return static_cast<std::size_t>(oldest - set.ways);
  }
  [[gnu::always_inline]] CacheLine& fill_oldest(const Set& set, std::uint64_t line,
                                                CacheLine& evicted) {
    const std::size_t oldest = take_oldest(set);
    CacheLine& taken = set.lines[oldest];
    Way& way = set.ways[oldest];
    if (way.tag != 0 && (taken.is_dirty || taken.is_owned)) {
      evicted = taken;
    }
    way.tag = line + 1;
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
  std::uint64_t mask_;        ///< 0: the sets are no power of two
  std::uint64_t last_place_;  ///< of the oldest way in the order of few
  std::uint64_t touches_{0};
  std::uint64_t epoch_{0};
  std::vector<std::uint32_t> first_;  // by set, of its ways; sets stand in the order of touches
  std::vector<Way> all_ways_{};
  std::vector<CacheLine> all_lines_{};
};

}  // namespace clprobe::simulator
