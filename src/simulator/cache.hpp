// SPDX-License-Identifier: Apache-2.0
// Tags of a set-associative cache with sectors; the least recently used line goes first. Sets come
// into being when they are touched, since most runs touch a small part of a large cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
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
        chunks_((sets_ + chunk_sets - 1) / chunk_sets) {}

  [[nodiscard]] bool exists() const { return sets_ > 0; }

  /// The line, now the most recently used of its set; null when it is not there.
  [[gnu::always_inline]] CacheLine* find(std::uint64_t line) {
    if (sets_ == 0) return nullptr;
    const std::uint64_t set = set_of(line);
    Chunk& chunk = chunks_[set / chunk_sets];
    if (chunk.ways.empty()) return nullptr;
    Way* const first = &chunk.ways[set % chunk_sets * ways_];
    for (Way* way = first; way != first + ways_; ++way) {
      if (way->tag != line + 1) continue;
      CacheLine& found = chunk.lines[static_cast<std::size_t>(way - chunk.ways.data())];
      if (!is_valid(found)) return nullptr;
      way->used = ++touches_;
      return &found;
    }
    return nullptr;
  }

  /// A place for `line`, which is not there. `evicted` gets what had to go, if that was dirty or
  /// owned, and stays as it is if not.
  /// Null when there is no cache.
  CacheLine* insert(std::uint64_t line, CacheLine& evicted) {
    if (sets_ == 0) return nullptr;
    const std::uint64_t set = set_of(line);
    Chunk& chunk = touched_chunk(set);
    const std::uint64_t first = set % chunk_sets * ways_;
    std::uint64_t place = first;
    for (std::uint64_t i = first; i < first + ways_; ++i) {
      // Two ways must not have one tag, so that what became invalid goes at once.
      if (epoch_ > 0 && chunk.ways[i].tag != 0 && !is_valid(chunk.lines[i])) chunk.ways[i] = {};
      if (chunk.ways[i].used < chunk.ways[place].used) place = i;
    }
    return fill(chunk, place, line, evicted);
  }

  /// The line as `find` has it, or else a place as of `insert`, in one search where that will do.
  CacheLine* find_or_insert(std::uint64_t line, CacheLine& evicted) {
    if (sets_ == 0) return nullptr;
    // Once anything was invalid, both have to look at more than tags.
    if (epoch_ > 0) {
      CacheLine* const found = find(line);
      return found == nullptr ? insert(line, evicted) : found;
    }
    const std::uint64_t set = set_of(line);
    Chunk& chunk = touched_chunk(set);
    Way* const first = &chunk.ways[set % chunk_sets * ways_];
    Way* place = first;
    for (Way* way = first; way != first + ways_; ++way) {
      if (way->tag == line + 1) {
        way->used = ++touches_;
        return &chunk.lines[static_cast<std::size_t>(way - chunk.ways.data())];
      }
      if (way->used < place->used) place = way;
    }
    return fill(chunk, static_cast<std::size_t>(place - chunk.ways.data()), line, evicted);
  }

  /// Forgets a line, whoever owns it.
  void drop(std::uint64_t line) {
    if (sets_ == 0) return;
    const std::uint64_t set = set_of(line);
    Chunk& chunk = chunks_[set / chunk_sets];
    if (chunk.ways.empty()) return;
    const std::uint64_t first = set % chunk_sets * ways_;
    for (std::uint64_t i = first; i < first + ways_; ++i) {
      if (chunk.ways[i].tag == line + 1) chunk.ways[i] = {};
    }
  }

  /// Forgets all lines but the owned ones.
  void invalidate() { ++epoch_; }

 private:
  static constexpr std::uint64_t chunk_sets = 8;

  /// What a search reads, apart from the rest: it is most of the time of a simulation.
  struct Way {
    std::uint64_t tag{0};   // the line + 1; 0: empty
    std::uint64_t used{0};  // when last, in touches
  };
  struct Chunk {
    std::vector<Way> ways{};
    std::vector<CacheLine> lines{};
  };

  /// A division is as long as the rest of a search.
  [[nodiscard]] std::uint64_t set_of(std::uint64_t line) const {
    return mask_ != 0 ? line & mask_ : line % sets_;
  }
  Chunk& touched_chunk(std::uint64_t set) {
    Chunk& chunk = chunks_[set / chunk_sets];
    if (chunk.ways.empty()) {
      chunk.ways.resize(chunk_sets * ways_);
      chunk.lines.resize(chunk_sets * ways_);
    }
    return chunk;
  }
  CacheLine* fill(Chunk& chunk, std::uint64_t place, std::uint64_t line, CacheLine& evicted) {
    CacheLine& taken = chunk.lines[place];
    if (chunk.ways[place].tag != 0 && (taken.is_dirty || taken.is_owned)) evicted = taken;
    chunk.ways[place] = {.tag = line + 1, .used = ++touches_};
    taken.line = line;
    taken.ready = 0;
    taken.epoch = epoch_;
    taken.sectors = 0;
    taken.is_dirty = false;
    taken.is_owned = false;
    return &taken;
  }
  [[nodiscard]] bool is_valid(const CacheLine& line) const {
    return line.epoch == epoch_ || line.is_owned;
  }

  std::uint64_t ways_;
  std::uint64_t sets_;
  std::uint64_t mask_;  ///< 0: the sets are no power of two
  std::uint64_t touches_{0};
  std::uint64_t epoch_{0};
  std::vector<Chunk> chunks_;
};

}  // namespace clprobe::simulator
