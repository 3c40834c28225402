// SPDX-License-Identifier: Apache-2.0
// Which lane accesses which word of local memory. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace clprobe {

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

/// Words for the parameter "pattern", and back; nothing for a word that is none.
std::string_view to_word(PatternKind kind);
std::optional<PatternKind> pattern_kind(std::string_view word);

struct BankPattern {
  PatternKind kind{PatternKind::stride};
  int number{1};
  std::uint32_t span_bytes{all_banks_bytes};  ///< congestion: from one row of a bank to the next
  int banks{32};                              ///< congestion: how many share the others

  friend bool operator==(const BankPattern&, const BankPattern&) = default;
};

/// Byte offset of each lane's word, a multiple of `word_bytes`.
std::vector<std::uint32_t> offsets_of(const BankPattern& pattern, int word_bytes, int lanes);

/// Bytes that hold all of its places wherever they move, a multiple of the block.
std::uint64_t footprint_of(const BankPattern& pattern, int word_bytes, int lanes);

/// What tells the candidates apart: strides from 0 to 65 words (all, or those around powers of
/// two).
std::vector<int> survey_strides(bool is_whole);

/// Those strides, controls, and rows and blocks in one bank, which differ by how many lanes are
/// served together.
std::vector<BankPattern> survey_patterns(const std::vector<int>& strides);

}  // namespace clprobe
