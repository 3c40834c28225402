// SPDX-License-Identifier: Apache-2.0
// Accesses to local memory (cl/banks.cl): which lane accesses which word, which series there are,
// and how they are built, launched and simulated. Pure, but for `open`.
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

/// Strides that distinguish the candidates: strides from 0 to 65 words (all, or those around powers
/// of two).
std::vector<int> survey_strides(bool is_whole);

/// Patterns of the survey: the strides, controls, and rows and blocks in one bank. The time of the
/// latter depends on how many lanes are served together.
std::vector<Pattern> survey_patterns(const std::vector<int>& strides);

/// Kind of accesses of a series.
struct AccessKind {
  std::string_view name;  ///< of the series
  bool is_store;
  bool is_chain;   ///< each access waits for the one before
  bool is_single;  ///< a few accesses between two clock reads, as the model E counts them
};

/// All kinds, in the order in which they are shown.
std::span<const AccessKind> all_kinds();

/// Throws std::out_of_range when there is no series of that name.
const AccessKind& kind_of(std::string_view series);

/// Accesses between two clock reads that do not wait for each other: the most that
/// --instructions takes, and a register each.
inline constexpr int max_instructions = 32;

/// A sample of the model is so many launches, of which the mean counts (as in its source: 100).
inline constexpr std::uint64_t launches_of_model = 100;

/// Accesses of a chain in one turn of its loop, so that the loop's own instructions are few.
inline constexpr int chain_steps = 32;

/// Behind the footprint: a word from which a kernel that stores reads, to wait for its stores.
inline constexpr std::uint64_t behind_footprint_bytes = 16;
/// Local memory of a kernel besides that array.
inline constexpr std::uint64_t beside_array_bytes = 48;

/// Bytes of local memory for patterns.
std::uint64_t room_of(const DeviceInfo& device);

/// A point of the series.
struct Shape {
  int word_bytes{4};
  Pattern pattern{};
  std::uint32_t sub_groups{1};
  int lanes{32};
  std::uint32_t instructions{1};  ///< of a work-item that do not wait for each other
  std::uint64_t local_bytes{0};   ///< reserved

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

/// Reads a point, if its pattern is possible: a file need not hold what this version writes.
std::optional<Shape> find_usable(const Point& point);

/// The build options of cl/banks.cl.
std::string build_options(const AccessKind& kind, const Shape& shape);

/// Memory that points share: a table of offsets, for each chain or each word of a tile, and the
/// results of a sample's launches.
Bytes memory_of(int lanes);

/// Rounds of a launch of the model, of which the last counts: the first brings the code into
/// caches.
inline constexpr std::uint64_t rounds_of_model = 2;

/// Turns in which so many work-items write the footprint before they begin.
std::uint64_t turns_of_filling(std::uint64_t footprint, std::uint64_t items);

/// Iterations of a launch, at most.
std::uint64_t max_timed(std::uint64_t footprint, std::uint64_t items);

/// Prepares points of `Shape`. Throws DeviceError and cl::Error.
Preparer open(Session& session);
/// Builds that `open` uses for the kernels of a point, as Probe::builds.
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

/// Accesses of a point for the simulator.
SimulatedWork trace(const simulator::Machine& machine, const Point& point);

inline constexpr std::array all_words{4, 8, 16};

/// Options of the command line. The probe chooses what is empty.
struct Options {
  explicit Options(const Request& request);

  [[nodiscard]] bool wants(std::string_view name) const { return is_wanted(series, name); }

  Effort effort{};
  Bytes max_memory{};
  std::vector<std::string> series{};
  std::vector<int> words{};
  std::vector<int> strides{};
  std::vector<int> ways{};
  std::vector<int> sub_groups{};
  std::vector<int> instructions{};
};

/// Work-items of a sub-group.
std::int64_t lanes_of(const DeviceInfo& device);

/// Sub-groups of a work-group, at most as many as keep any local memory busy.
std::int64_t sub_groups_of(const DeviceInfo& device);

std::vector<int> requested_or(const std::vector<int>& requested, const std::vector<int>& otherwise);

/// Requested words, in bytes.
std::vector<int> words_of(const Options& requested);
/// Words of a series, in bytes.
std::vector<int> words_of(const AccessKind& kind, const DeviceInfo& device,
                          const Options& requested);

/// The patterns of a word that the local memory holds.
std::vector<Pattern> patterns_for(const DeviceInfo& device, const Options& requested, int word);

/// One array for all patterns of a word, so that one build serves them.
std::uint64_t array_bytes(const DeviceInfo& device, const Options& requested, int word);

Point point_of(const AccessKind& kind, const Shape& shape);

/// Adds points with exactly k lanes on k rows of one bank, as Probe::refine.
std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points);

}  // namespace clprobe::banks
