// SPDX-License-Identifier: Apache-2.0
// Tags of a set-associative cache with sectors; the least recently used line goes first. Sets come
// into being when they are touched, since most runs touch a small part of a large cache.
#pragma once

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
        chunks_((sets_ + chunk_sets - 1) / chunk_sets) {}

  [[nodiscard]] bool exists() const { return sets_ > 0; }

  /// The line, now the most recently used of its set; null when it is not there.
  CacheLine* find(std::uint64_t line) {
    if (sets_ == 0) return nullptr;
    const std::uint64_t set = line % sets_;
    Chunk& chunk = chunks_[set / chunk_sets];
    if (chunk.ways.empty()) return nullptr;
    const std::uint64_t first = set % chunk_sets * ways_;
    for (std::uint64_t i = first; i < first + ways_; ++i) {
      if (chunk.ways[i].tag != line + 1) continue;
      if (!is_valid(chunk.lines[i])) return nullptr;
      chunk.ways[i].used = ++touches_;
      return &chunk.lines[i];
    }
    return nullptr;
  }

  /// A place for `line`, which is not there. `evicted` gets what had to go, if that was valid.
  /// Null when there is no cache.
  CacheLine* insert(std::uint64_t line, CacheLine& evicted) {
    if (sets_ == 0) return nullptr;
    const std::uint64_t set = line % sets_;
    Chunk& chunk = chunks_[set / chunk_sets];
    if (chunk.ways.empty()) {
      chunk.ways.resize(chunk_sets * ways_);
      chunk.lines.resize(chunk_sets * ways_);
    }
    const std::uint64_t first = set % chunk_sets * ways_;
    std::uint64_t place = first;
    for (std::uint64_t i = first; i < first + ways_; ++i) {
      // Two ways must not have one tag, so that what became invalid goes at once.
      if (epoch_ > 0 && chunk.ways[i].tag != 0 && !is_valid(chunk.lines[i])) chunk.ways[i] = {};
      if (chunk.ways[i].used < chunk.ways[place].used) place = i;
    }
    evicted = chunk.ways[place].tag != 0 ? chunk.lines[place] : CacheLine{};
    chunk.ways[place] = {.tag = line + 1, .used = ++touches_};
    chunk.lines[place] = CacheLine{.line = line, .epoch = epoch_};
    return &chunk.lines[place];
  }

  /// Forgets a line, whoever owns it.
  void drop(std::uint64_t line) {
    if (sets_ == 0) return;
    const std::uint64_t set = line % sets_;
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

  [[nodiscard]] bool is_valid(const CacheLine& line) const {
    return line.epoch == epoch_ || line.is_owned;
  }

  std::uint64_t ways_;
  std::uint64_t sets_;
  std::uint64_t touches_{0};
  std::uint64_t epoch_{0};
  std::vector<Chunk> chunks_;
};

}  // namespace clprobe::simulator
