// SPDX-License-Identifier: Apache-2.0
// Tags of a set-associative cache with sectors and least-recently-used replacement. Sets are
// allocated with their first line, since most runs use a small part of a large cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace clprobe::simulator {

struct CacheLine {
  std::uint64_t line{0};
  std::uint64_t ready{0};  ///< cycle in which the contents are available
  std::uint64_t epoch{0};
  std::uint32_t sectors{0};
  bool is_dirty{false};
  bool is_owned{false};
};

class Cache {
 public:
  /// Creates a cache. A cache of 0 bytes never holds a line.
  Cache(std::uint64_t bytes, std::uint64_t line_bytes, std::uint64_t ways)
      : ways_(ways),
        sets_(bytes / (line_bytes * ways)),
        mask_(std::has_single_bit(sets_) ? sets_ - 1 : 0),
        first_(sets_, untouched) {}

  [[nodiscard]] bool exists() const { return sets_ > 0; }

  /// Returns the line, and marks it as the most recently used line of its set. Returns null if
  /// absent.
  CacheLine* find(std::uint64_t line) {
    const std::size_t way = search(line);
    if (way == nowhere || !is_valid(lines_[way])) return nullptr;
    use_[way].last = ++touches_;
    return &lines_[way];
  }

  /// Inserts an absent line. Returns null if the cache has 0 bytes. Sets `evicted` to the replaced
  /// line if the replaced line was dirty or owned; otherwise leaves `evicted` unchanged.
  CacheLine* insert(std::uint64_t line, CacheLine& evicted) {
    return exists() ? &put(line, evicted) : nullptr;
  }

  /// Returns the line, and inserts it as `insert` does if it is absent. The cache must not have 0
  /// bytes.
  CacheLine& find_or_put(std::uint64_t line, CacheLine& evicted) {
    CacheLine* const found = find(line);
    return found == nullptr ? put(line, evicted) : *found;
  }

  /// Removes a line, whether or not it is owned.
  void drop(std::uint64_t line) {
    if (const std::size_t way = search(line); way != nowhere) use_[way] = {};
  }

  /// Removes all lines that are not owned.
  void invalidate() { ++epoch_; }

 private:
  static constexpr std::uint32_t untouched = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

  /// The fields that a search reads, kept together because searches take most of a simulation's
  /// time.
  struct Use {
    std::uint64_t tag{0};   // line + 1; 0: no line
    std::uint64_t last{0};  // number of the last access to the line
  };

  /// Returns the set of a line, by a mask if possible: a division takes as long as the rest of a
  /// search.
  [[nodiscard]] std::uint64_t set_of(std::uint64_t line) const {
    return mask_ != 0 ? line & mask_ : line % sets_;
  }
  [[nodiscard]] bool is_valid(const CacheLine& line) const {
    return line.epoch == epoch_ || line.is_owned;
  }
  [[nodiscard]] std::size_t search(std::uint64_t line) const {
    const std::size_t first = exists() ? first_[set_of(line)] : untouched;
    if (first == untouched) return nowhere;
    for (std::size_t way = first; way < first + ways_; ++way) {
      if (use_[way].tag == line + 1) return way;
    }
    return nowhere;
  }
  CacheLine& put(std::uint64_t line, CacheLine& evicted) {
    std::uint32_t& first = first_[set_of(line)];
    if (first == untouched) {
      first = static_cast<std::uint32_t>(use_.size());
      use_.resize(use_.size() + ways_);
      lines_.resize(lines_.size() + ways_);
    }
    std::size_t oldest = first;
    for (std::size_t way = first; way < first + ways_; ++way) {
      if (!is_valid(lines_[way])) use_[way] = {};
      if (use_[way].last < use_[oldest].last) oldest = way;
    }
    CacheLine& taken = lines_[oldest];
    if (use_[oldest].tag != 0 && (taken.is_dirty || taken.is_owned)) evicted = taken;
    use_[oldest] = {.tag = line + 1, .last = ++touches_};
    taken = {.line = line, .epoch = epoch_};
    return taken;
  }

  std::uint64_t ways_;
  std::uint64_t sets_;
  std::uint64_t mask_;  // 0: one set, or a number of sets that is no power of two
  std::uint64_t touches_{0};
  std::uint64_t epoch_{0};
  // Index of each set's first way in `use_` and `lines_`, which are in the order of allocation.
  std::vector<std::uint32_t> first_;
  std::vector<Use> use_{};          // one element per way
  std::vector<CacheLine> lines_{};  // one element per way
};

}  // namespace clprobe::simulator
