// SPDX-License-Identifier: Apache-2.0
// A point of the probe `inflight`: the lines that a work-group requests. Pure.
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

/// Rounds of independent loads, timed as a whole or of one sub-group alone; chases side by side; or
/// a single chase beside streams.
enum class Kind { block, sub_group, chains, chase };

inline constexpr std::array merger_modes{Word{MergerMode::within, "within"},
                                         Word{MergerMode::across, "across"}};

/// Lines are a power of two of them, and the first word of each names the next of a single cycle.
struct LineCycle {
  std::uint32_t mask{0};

  [[nodiscard]] std::uint32_t after(std::uint32_t line) const;
  /// So many lines after line 0, in logarithmic time.
  [[nodiscard]] std::uint32_t at(std::uint64_t position) const;
};

struct Shape {
  Kind kind{Kind::block};
  LoadPattern pattern{};  ///< with 0 loads: the same work-group without them
  std::uint64_t work_items{1};
  std::uint64_t last_item{1};  ///< of the sub-group that is timed, counted from 1
  std::uint64_t chains{1};     ///< of each work-item
  std::uint64_t sub_group{1};
  std::uint64_t line_bytes{64};
  std::uint64_t buffer_bytes{64};  ///< a power of two

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

  /// Reads a point that is not loaded. Throws std::out_of_range where a parameter is missing.
  static Shape of(const Point& point);

  [[nodiscard]] bool is_block() const { return kind == Kind::block || kind == Kind::sub_group; }
  /// Number of the sub-group that is timed, from 0.
  [[nodiscard]] std::uint64_t number() const { return (last_item - 1) / sub_group; }
  [[nodiscard]] std::uint64_t sub_groups() const {
    return (work_items + sub_group - 1) / sub_group;
  }
  [[nodiscard]] std::uint64_t lines() const { return buffer_bytes / line_bytes; }
  [[nodiscard]] std::uint64_t words() const { return buffer_bytes / sizeof(std::uint32_t); }
  [[nodiscard]] LineCycle cycle() const { return {static_cast<std::uint32_t>(lines() - 1)}; }
  /// Lines from one load of the work-group to its next.
  [[nodiscard]] std::uint64_t lines_per_load() const;
  [[nodiscard]] std::uint64_t lines_per_round() const;
  /// The place of a work-item's line among those of a load.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t item) const;
  /// The sum of what all work-items load in rounds 0 to `rounds`, from line `first` on.
  [[nodiscard]] std::uint64_t block_witness(std::uint64_t first, std::uint64_t rounds) const;
  /// Chains of so many hops lie so many positions of the cycle apart: side by side, where all of
  /// them have lines of their own.
  [[nodiscard]] std::uint64_t chain_distance(std::uint64_t hops) const;
  /// Positions that they go through all together. The next launch begins behind these.
  [[nodiscard]] std::uint64_t chain_positions(std::uint64_t hops) const;
  /// The lines of all chains when the first of them is at `position`.
  [[nodiscard]] std::vector<std::uint32_t> chain_lines(std::uint64_t position,
                                                       std::uint64_t distance) const;
  /// The build options of cl/inflight.cl.
  [[nodiscard]] std::string options() const;
};

/// The fields of a point are read by its kind, where that is no block.
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

/// True if a point has chases side by side.
bool is_chain(const Point& point);
/// True if a point is the time of one sub-group.
bool is_own_time(const Point& point);

/// Chains of a work-item in a group of several.
inline constexpr std::array chains_of_item{2, 4, 8};
inline constexpr std::uint64_t max_chains = 8;

}  // namespace clprobe::inflight
