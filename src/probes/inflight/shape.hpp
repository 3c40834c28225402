// SPDX-License-Identifier: Apache-2.0
// The fields of a point of the probe `inflight`, and the lines that its work-group loads. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/inflight/thread_latency.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::inflight {

enum class Kind {
  block,      ///< rounds of independent loads, timed for the whole work-group
  sub_group,  ///< rounds of independent loads, timed for one sub-group
  chains,     ///< concurrent pointer chases
  chase,      ///< one pointer chase, by itself or next to streams
};

inline constexpr std::array merger_modes{Word{MergerMode::within, "within"},
                                         Word{MergerMode::across, "across"}};

/// Single cycle of a buffer's lines, as next_line() in cl/inflight.cl computes it. The number of
/// lines is a power of two. The first word of each line holds the number of the next line.
struct LineCycle {
  std::uint32_t mask{0};  ///< number of lines minus 1

  [[nodiscard]] std::uint32_t after(std::uint32_t line) const;
  /// Returns the line at a position of the cycle; position 0 is line 0. The time is logarithmic in
  /// `position`.
  [[nodiscard]] std::uint32_t at(std::uint64_t position) const;
};

struct Shape {
  Kind kind{Kind::block};
  LoadPattern pattern{};  ///< with 0 loads: a work-group without loads
  std::uint64_t work_items{1};
  std::uint64_t last_item{1};  ///< last work-item of the timed sub-group, counted from 1
  std::uint64_t chains{1};     ///< chains per work-item
  std::uint64_t sub_group{1};
  std::uint64_t line_bytes{64};
  std::uint64_t buffer_bytes{64};  ///< power of two

  template <typename Visitor>
  void visit(Visitor& fields) {
    fields.text("target", pattern.target);
    fields.whole("line_bytes", line_bytes, count_from_1);
    fields.whole("sub_group", sub_group, {.min = 1, .max = 1024});
    if (is_block()) {
      fields.whole("loads", pattern.loads, {.max = 1024});
      fields.whole("merger", pattern.merger, {.min = 1, .max = 4096});
      fields.word("merger_mode", pattern.mode, merger_modes);
      if (kind == Kind::sub_group) {
        fields.whole("group_items", work_items, count_from_1);
        fields.whole("work_items", last_item,
                     {.min = 1, .max = static_cast<std::int64_t>(work_items)});
        fields.derived("sub_group_number", number());
      } else {
        fields.whole("work_items", work_items, count_from_1);
      }
    } else if (kind == Kind::chains) {
      fields.whole("group_items", work_items, count_from_1);
      fields.whole("chains", chains, count_from_1);
      fields.derived("asked", work_items * chains);
    }
    fields.fact("buffer_bytes", buffer_bytes, from_1);
  }

  /// Reads a point without streams. Throws PointError for a missing or wrong parameter.
  static Shape of(const Point& point);

  [[nodiscard]] bool is_block() const { return kind == Kind::block || kind == Kind::sub_group; }
  /// Returns the number of the timed sub-group, from 0.
  [[nodiscard]] std::uint64_t number() const { return (last_item - 1) / sub_group; }
  [[nodiscard]] std::uint64_t sub_groups() const {
    return (work_items + sub_group - 1) / sub_group;
  }
  [[nodiscard]] std::uint64_t lines() const { return buffer_bytes / line_bytes; }
  [[nodiscard]] std::uint64_t words() const { return buffer_bytes / sizeof(std::uint32_t); }
  [[nodiscard]] LineCycle cycle() const { return {static_cast<std::uint32_t>(lines() - 1)}; }
  /// Returns the number of lines that one load of all work-items spans.
  [[nodiscard]] std::uint64_t lines_per_load() const;
  [[nodiscard]] std::uint64_t lines_per_round() const;
  /// Returns the index of a work-item's line among the lines of one load.
  [[nodiscard]] std::uint64_t line_index_of(std::uint64_t item) const;
  /// Returns the sum of all words that the work-items load in rounds 0 to `rounds`, inclusive.
  /// Round 0 starts at line `first`.
  [[nodiscard]] std::uint64_t block_checksum(std::uint64_t first, std::uint64_t rounds) const;
  /// Returns the distance between the starts of neighbouring chains, in positions of the cycle. The
  /// chains are disjoint if the buffer has enough lines.
  [[nodiscard]] std::uint64_t chain_distance(std::uint64_t hops) const;
  /// Returns the number of positions by which the next launch starts later: past all chains or, if
  /// chains overlap, `hops`.
  [[nodiscard]] std::uint64_t chain_positions(std::uint64_t hops) const;
  /// Returns the lines at which all chains start if the first chain starts at `position`.
  [[nodiscard]] std::vector<std::uint32_t> chain_lines(std::uint64_t position,
                                                       std::uint64_t distance) const;
  [[nodiscard]] std::string options() const;
};

/// Shape with a given kind, for reading a point.
template <Kind kind>
struct OfKind {
  Shape shape{.kind = kind};

  template <typename Visitor>
  void visit(Visitor& fields) {
    shape.visit(fields);
  }
};
using Chains = OfKind<Kind::chains>;
using OwnTime = OfKind<Kind::sub_group>;

bool is_chain(const Point& point);
/// Returns true for points that time one sub-group.
bool is_own_time(const Point& point);

/// Numbers of chains per work-item that are measured in the largest work-group.
inline constexpr std::array chains_of_item{2, 4, 8};
inline constexpr std::uint64_t max_chains = 8;

}  // namespace clprobe::inflight
