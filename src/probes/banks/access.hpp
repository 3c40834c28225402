// SPDX-License-Identifier: Apache-2.0
// Points of `banks` that access local memory (cl/banks.cl): patterns, kinds of access, and the
// functions that build, launch and simulate the points. Only `open` uses OpenCL.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/selection.hpp"

namespace clprobe::banks {

/// Distance in bytes between words that share a bank in every candidate: a multiple of the total
/// width of the banks.
inline constexpr std::uint32_t all_banks_bytes = 1024;

/// Size in bytes of the aligned parts of local memory. From access to access, an offset moves
/// within its part (BLOCK_BYTES in cl/banks.cl).
inline constexpr std::uint32_t pattern_block_bytes = 8192;

enum class PatternKind {
  stride,      ///< lane i accesses word i * number; number 0 is a broadcast
  pairs,       ///< lanes 2i and 2i + 1 access word i
  rows,        ///< lane i accesses row (i mod number) of one bank
  blocks,      ///< lane i accesses row (i * number / lanes) of one bank
  congestion,  ///< the first `number` lanes access different rows of one bank; others, other banks
};

inline constexpr Word<PatternKind> pattern_words[]{{PatternKind::stride, "stride"},
                                                   {PatternKind::pairs, "pairs"},
                                                   {PatternKind::rows, "rows"},
                                                   {PatternKind::blocks, "blocks"},
                                                   {PatternKind::congestion, "congestion"}};

struct Pattern {
  PatternKind kind{PatternKind::stride};
  int number{1};
  std::uint32_t span_bytes{all_banks_bytes};  ///< distance between rows of one bank
  int banks{32};                              ///< congestion: number of banks

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

/// Returns the byte offset of each lane's word. Each offset is a multiple of `word_bytes`.
std::vector<std::uint32_t> offsets_of(const Pattern& pattern, int word_bytes, int lanes);

/// Returns the size in bytes of the memory that a pattern can reach as its offsets move: a multiple
/// of pattern_block_bytes.
std::uint64_t footprint_of(const Pattern& pattern, int word_bytes, int lanes);

/// Returns the strides that distinguish the candidates: all strides from 0 to 65 words if
/// `is_whole`, otherwise 21 of them, most of them near powers of two.
std::vector<int> survey_strides(bool is_whole);

/// Returns the patterns of the survey: strides, pairs, rows of one bank, and blocks of rows of one
/// bank. The times of rows and blocks depend on the number of lanes that are served together.
std::vector<Pattern> survey_patterns(const std::vector<int>& strides);

struct AccessKind {
  std::string_view name;
  bool is_store;
  bool is_chain;   ///< each access waits for the previous one
  bool is_single;  ///< conflict model: one access per chain between two clock reads
};

/// Returns all kinds of access in the order of the report.
std::span<const AccessKind> all_kinds();

/// Returns the kind of access of a series. Throws std::out_of_range for an unknown name.
const AccessKind& kind_of(std::string_view series);

/// Maximum number of independent accesses per work-item. Each access needs at least one register.
inline constexpr int max_instructions = 32;

/// Number of launches that a sample of the conflict model averages, as in the model's source
/// (Okamoto et al. 2014).
inline constexpr std::uint64_t launches_of_model = 100;

/// Number of accesses per loop iteration in load-latency, which makes the loop's own instructions
/// negligible.
inline constexpr int chain_steps = 32;

/// Bytes after the footprint. A kernel that stores waits for its stores by loading a word from
/// there.
inline constexpr std::uint64_t padding_bytes = 16;
/// Local memory that a kernel needs in addition to the array of words, in bytes.
inline constexpr std::uint64_t other_local_bytes = 48;

/// Returns the size of the local memory that is available for patterns, in bytes.
std::uint64_t pattern_memory(const DeviceInfo& device);

struct Shape {
  int word_bytes{4};
  Pattern pattern{};
  std::uint32_t sub_groups{1};
  int lanes{32};
  std::uint32_t instructions{1};  ///< independent accesses per work-item
  std::uint64_t local_bytes{0};   ///< size of the kernel's array in local memory

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("word_bytes", word_bytes, {.min = 1, .max = 16});
    pattern.visit(f);
    f.whole("sub_groups", sub_groups, count_from_1);
    f.whole("lanes", lanes, {.min = 1, .max = 1024});
    f.whole("instructions", instructions, count_from_1);
    f.whole("local_bytes", local_bytes);
  }
};

/// Returns the shape of a point. Returns nothing if the point failed, or if a stored point lacks
/// fields or has impossible values.
std::optional<Shape> find_usable(const Point& point);

std::string build_options(const AccessKind& kind, const Shape& shape);

/// Returns the size of the buffers that all points share: a table of offsets (per lane and chain,
/// or per word of a tile) and the results of a sample's launches.
Bytes memory_of(int lanes);

/// Number of rounds of a launch of the conflict model. Only the last round counts, since the first
/// round loads the code into caches.
inline constexpr std::uint64_t rounds_of_model = 2;

/// Returns the number of loop iterations in which `items` work-items fill `footprint` bytes.
std::uint64_t turns_of_filling(std::uint64_t footprint, std::uint64_t items);

std::uint64_t max_timed(std::uint64_t footprint, std::uint64_t items);

// Functions that `Probe` points to. The result of `open` throws DeviceError and cl::Error.
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

}  // namespace clprobe::banks
