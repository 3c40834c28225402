// SPDX-License-Identifier: Apache-2.0
// The probe `map`: series, points, and the functions that `Probe` points to. Pure, except `open`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::map {

/// A series of the probe.
struct SeriesSpec {
  std::string_view name{};
  std::string_view summary{};
};

inline constexpr std::string_view atomic_series = "atomic";
inline constexpr std::string_view load_series = "load";
inline constexpr std::string_view gather_series = "gather";
inline constexpr std::string_view hand_over_series = "hand-over";

/// All series, in the order of the report.
inline constexpr std::array all_series{
    SeriesSpec{atomic_series, "dependent atomic additions from each compute unit"},
    SeriesSpec{load_series, "dependent volatile loads from up to 32 compute units"},
    SeriesSpec{gather_series, "a gather from blocks that are near, far, or any"},
    SeriesSpec{hand_over_series, "exchanges of a flag between two compute units"},
};

/// A chain from one compute unit in a part of the blocks.
struct UnitShape {
  std::uint64_t unit{0};
  std::uint64_t part{0};    ///< 0: blocks near compute unit 0; 1: the other blocks
  std::uint64_t blocks{0};  ///< number of blocks in the buffer
  /// Number of blocks near compute unit 0, a fact; 0 if all compute units reach all blocks alike.
  std::uint64_t near_blocks{0};
  /// 1 if the device reports the number of the compute unit, a fact.
  std::uint64_t unit_is_read{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("unit", unit, count_from_0);
    f.whole("part", part, {.max = 1});
    f.whole("blocks", blocks, count_from_1);
    f.fact("near_blocks", near_blocks, count_from_0);
    f.fact("unit_is_read", unit_is_read, {.max = 1});
  }
};

/// Blocks that the work-groups of the gather read.
enum class Order { any, near, far };
inline constexpr Word<Order> order_words[]{
    {Order::any, "any"}, {Order::near, "near"}, {Order::far, "far"}};

struct GatherShape {
  Order order{Order::any};
  std::uint64_t blocks{0};  ///< number of blocks in the buffer
  Timer timer{Timer::event};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.word("order", order, order_words);
    f.whole("blocks", blocks, count_from_1);
    f.word("timer", timer);
  }
};

struct HandOverShape {
  std::uint64_t first{0};   ///< compute unit that starts
  std::uint64_t second{1};  ///< compute unit that answers

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("first_unit", first, count_from_0);
    f.whole("second_unit", second, count_from_0);
  }
};

inline constexpr std::uint64_t block_bytes = 4096;
inline constexpr std::uint64_t block_words = block_bytes / 4;
/// Number of nodes of a block in a short or a long ring (cl/map.cl).
inline constexpr std::uint64_t block_nodes = 8;
/// Maximum number of blocks of a long ring. Its lines exceed the L1 of GPUs, 256 KiB, but fit L2.
inline constexpr std::uint64_t max_ring_blocks = 512;
/// Number of accesses per iteration of a chain.
inline constexpr std::uint64_t hops_per_iteration = 8;
/// Number of blocks of a chunk of the gather.
inline constexpr std::uint64_t chunk_blocks = 8;

/// Returns the word of the buffer at which node `i` of a long ring lies.
std::uint64_t node_word(std::span<const std::uint32_t> blocks, std::uint64_t i);

/// Returns the number of untimed accesses before `hops` timed ones: 64 atomic additions, or a lap
/// of a ring of loads. The chain never ends at the first node.
std::uint64_t warm_hops(bool is_load, std::uint64_t nodes, std::uint64_t hops);

/// Returns the sum modulo 2^32 of the words of each block after map_fill. The nodes of long rings
/// count as 0.
std::vector<std::uint32_t> sums_of_blocks(std::uint64_t blocks);

/// Returns the sum modulo 2^32 of the nodes of a long ring.
std::uint32_t sum_of_ring(std::span<const std::uint32_t> blocks);

/// Latencies split into near and far ones.
struct Split {
  std::vector<double> near{};
  std::vector<double> far{};
  double limit{0.0};  ///< far latencies exceed this value
};

/// Splits latencies half-way between their 10 % and 90 % quantiles. Returns nothing for fewer than
/// 4 latencies, or unless each side has 2 and the median of the far ones is 1.25 times that of the
/// near ones, with at most a tenth of all latencies in the middle third between the medians.
std::optional<Split> find_split(std::vector<double> latencies);

/// The order of blocks of a gather: two lists of whole chunks, and the list of each compute unit.
struct Lists {
  std::vector<std::uint32_t> blocks{};
  std::uint64_t first_chunks{0};
  std::uint64_t second_chunks{0};
  std::vector<std::uint32_t> list_of_unit{};
};

/// Returns the order of blocks of a gather. `half_of_unit` is 0 for compute units near `parts[0]`,
/// and 1 for those near `parts[1]`. All orders have the same blocks.
Lists order_blocks(Order order, const std::array<std::vector<std::uint32_t>, 2>& parts,
                   std::span<const std::uint32_t> half_of_unit);

/// Returns the findings of the probe. Method: docs/map.md.
Findings analyse(const DeviceInfo& device, std::span<const Point> points);
Card card(const ProbeResult& result);

extern const Probe probe;

// Functions that `Probe` points to (launch.cpp).
Preparer open(Session& session);
std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t seed, const Point& point);

}  // namespace clprobe::map
