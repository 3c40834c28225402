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
  std::uint64_t used{0};   ///< when last, in touches; 0: never, an empty way
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
    CacheLine* const set = sets_ > 0 ? set_of(line) : nullptr;
    if (set == nullptr) return nullptr;
    for (std::uint64_t way = 0; way < ways_; ++way) {
      CacheLine& each = set[way];
      if (each.line == line && is_valid(each)) {
        each.used = ++touches_;
        return &each;
      }
    }
    return nullptr;
  }

  /// A place for `line`, which is not there. `evicted` gets what had to go, if that was valid.
  /// Null when there is no cache.
  CacheLine* insert(std::uint64_t line, CacheLine& evicted) {
    if (sets_ == 0) return nullptr;
    CacheLine* const set = make_set_of(line);
    CacheLine* place = set;
    for (std::uint64_t way = 0; way < ways_; ++way) {
      CacheLine& each = set[way];
      if (!is_valid(each)) {
        place = &each;
        break;
      }
      if (each.used < place->used) place = &each;
    }
    evicted = is_valid(*place) ? *place : CacheLine{};
    *place = CacheLine{.line = line, .used = ++touches_, .epoch = epoch_};
    return place;
  }

  /// Forgets all lines but the owned ones.
  void invalidate() { ++epoch_; }

 private:
  static constexpr std::uint64_t chunk_sets = 16;

  [[nodiscard]] bool is_valid(const CacheLine& line) const {
    return line.used != 0 && (line.epoch == epoch_ || line.is_owned);
  }
  CacheLine* set_of(std::uint64_t line) {
    const std::uint64_t set = line % sets_;
    CacheLine* const chunk = chunks_[set / chunk_sets].get();
    return chunk == nullptr ? nullptr : chunk + (set % chunk_sets) * ways_;
  }
  CacheLine* make_set_of(std::uint64_t line) {
    auto& chunk = chunks_[line % sets_ / chunk_sets];
    if (!chunk) chunk = std::make_unique<CacheLine[]>(chunk_sets * ways_);
    return set_of(line);
  }

  std::uint64_t ways_;
  std::uint64_t sets_;
  std::uint64_t touches_{0};
  std::uint64_t epoch_{0};
  std::vector<std::unique_ptr<CacheLine[]>> chunks_;
};

}  // namespace clprobe::simulator
