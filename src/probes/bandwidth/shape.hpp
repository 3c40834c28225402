// SPDX-License-Identifier: Apache-2.0
// What one point of the probe `bandwidth` is: who walks over which memory, and what that must add
// up to. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::bandwidth {

enum class Operation { read, write, copy, update, local, image };
inline constexpr Word<Operation> operation_words[]{
    {Operation::read, "read"},     {Operation::write, "write"}, {Operation::copy, "copy"},
    {Operation::update, "update"}, {Operation::local, "local"}, {Operation::image, "image"}};

bool writes(Operation operation);

/// Vectors of a block that one work-item moves, as in cl/bandwidth.cl.
constexpr std::uint64_t unroll_of(std::uint64_t vector_words) { return vector_words == 16 ? 8 : 4; }
/// Words of a texel: an image's element is a vector of four.
inline constexpr std::uint64_t texel_words = 4;
inline constexpr std::uint64_t texel_bytes = texel_words * sizeof(std::uint32_t);

/// Walks over regions of blocks. All regions together are one buffer's beginning.
struct Shape {
  std::uint64_t working_set_bytes{0};  ///< of the device; where each unit has its own, of a unit
  Operation operation{Operation::read};
  std::uint64_t lanes{1};   ///< work-items of a walk
  std::uint64_t vector{4};  ///< words
  std::uint64_t group{1};   ///< work-items
  std::uint64_t walks{1};
  std::uint64_t regions{1};
  std::uint64_t blocks{1};  ///< of a region
  Timer timer{Timer::host};
  /// A fact: the largest buffer of the plan, which all points share.
  std::uint64_t buffer_bytes{0};

  template <typename Visitor>
  void visit(Visitor& f) {
    f.whole("working_set_bytes", working_set_bytes, from_1);
    f.word("operation", operation, operation_words);
    f.whole("lanes", lanes, {.min = 1, .max = 1024});
    f.whole("vector", vector, {.min = 4, .max = 16});
    f.whole("work_group", group, count_from_1);
    f.whole("walks", walks, {.min = 1, .max = 1 << 24});
    f.whole("regions", regions, {.min = 1, .max = 1 << 24});
    f.whole("blocks", blocks, {.min = 1, .max = std::int64_t{1} << 32});
    f.word("timer", timer);
    f.fact("buffer_bytes", buffer_bytes);
  }

  [[nodiscard]] std::uint64_t unroll() const { return unroll_of(vector); }
  [[nodiscard]] std::uint64_t block_bytes() const { return lanes * unroll() * vector * 4; }
  [[nodiscard]] std::uint64_t items() const { return walks * lanes; }
  /// Walks of a region.
  [[nodiscard]] std::uint64_t sharers() const {
    return std::max<std::uint64_t>(1, walks / regions);
  }
  [[nodiscard]] std::uint64_t region_bytes() const { return blocks * block_bytes(); }
  /// Of the buffer, or of each of two.
  [[nodiscard]] std::uint64_t touched_bytes() const { return regions * region_bytes(); }
  /// Blocks of a walk in one iteration, in which all go once over each region.
  [[nodiscard]] std::uint64_t step() const { return (blocks + sharers() - 1) / sharers(); }
  /// That all walks move in one iteration.
  [[nodiscard]] std::uint64_t bytes_per_iteration() const;
};

/// A walk: the first block of its region, and its first block in there.
struct Place {
  std::uint32_t region{0};
  std::uint32_t start{0};

  friend bool operator==(const Place&, const Place&) = default;
};

/// The places of all walks. Those of one region start evenly spread, and neighbours far apart: the
/// walks of one compute unit then do not find in its caches what its others have just read.
std::vector<Place> places_of(const Shape& shape);

/// The sum of the first `words` words that `fill` makes, wrapping. At most 2^32 of them.
std::uint32_t sum_before(std::uint64_t words);

/// What all walks together must add up that go over `count` blocks each, wrapping.
std::uint32_t expected_sum(const Shape& shape, std::span<const Place> places, std::uint64_t count);

std::string build_options(const Shape& shape);
std::vector<KernelVariant> variants();

}  // namespace clprobe::bandwidth
