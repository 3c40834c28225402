// SPDX-License-Identifier: Apache-2.0
// Which lane accesses which word of local memory. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/words.hpp"
#include "probes/shared/bounds.hpp"

namespace clprobe::banks {

/// Any candidate's banks together, side by side, divide this: places so far apart share a bank.
inline constexpr std::uint32_t all_banks_bytes = 1024;

/// Offsets move within blocks of so many bytes while they are measured (cl/banks.cl).
inline constexpr std::uint32_t pattern_block_bytes = 8192;

enum class PatternKind {
  stride,      ///< lane i at word i * number; number 0 is a broadcast
  pairs,       ///< lanes 2i and 2i + 1 at word i
  rows,        ///< lane i at row i mod number of one bank
  blocks,      ///< lane i at row i * number / lanes of one bank
  congestion,  ///< the first `number` lanes on rows of one bank, the others not on it
};

inline constexpr Word<PatternKind> pattern_words[]{{PatternKind::stride, "stride"},
                                                   {PatternKind::pairs, "pairs"},
                                                   {PatternKind::rows, "rows"},
                                                   {PatternKind::blocks, "blocks"},
                                                   {PatternKind::congestion, "congestion"}};

struct Pattern {
  PatternKind kind{PatternKind::stride};
  int number{1};
  std::uint32_t span_bytes{all_banks_bytes};  ///< congestion: from one row of a bank to the next
  int banks{32};                              ///< congestion: how many share the others

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("pattern", kind, pattern_words);
    switch (kind) {
      case PatternKind::stride:
        f.whole("stride_words", number, count_from_0);
        break;
      case PatternKind::pairs:
        break;
      case PatternKind::rows:
      case PatternKind::blocks:
        f.whole("rows", number, count_from_1);
        break;
      case PatternKind::congestion:
        f.whole("ways", number, count_from_1);
        f.whole("span_bytes", span_bytes, count_from_1);
        f.whole("banks", banks, count_from_1);
        break;
    }
  }

  friend bool operator==(const Pattern&, const Pattern&) = default;
};

/// Byte offset of each lane's word, a multiple of `word_bytes`.
std::vector<std::uint32_t> offsets_of(const Pattern& pattern, int word_bytes, int lanes);

/// Bytes that hold all of its places wherever they move, a multiple of the block.
std::uint64_t footprint_of(const Pattern& pattern, int word_bytes, int lanes);

/// What tells the candidates apart: strides from 0 to 65 words (all, or those around powers of
/// two).
std::vector<int> survey_strides(bool is_whole);

/// Those strides, controls, and rows and blocks in one bank, which differ by how many lanes are
/// served together.
std::vector<Pattern> survey_patterns(const std::vector<int>& strides);

}  // namespace clprobe::banks
