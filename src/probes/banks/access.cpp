// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"

namespace clprobe::banks {
namespace {

/// Returns the byte offset of a lane outside the congested bank. These lanes use the first row of
/// the other banks, one bank after another. With more lanes than banks, some lanes share words,
/// which costs nothing.
std::uint32_t uncongested_offset(const Pattern& pattern, std::uint32_t lane, std::uint32_t word) {
  const std::uint32_t width = pattern.span_bytes / static_cast<std::uint32_t>(pattern.banks);
  const std::uint32_t step = std::max(width, word);
  const std::uint32_t words = pattern.span_bytes / step;
  if (words < 2) return 0;
  return (1 + (lane - static_cast<std::uint32_t>(pattern.number)) % (words - 1)) * step;
}

std::uint32_t offset_of(const Pattern& pattern, std::uint32_t lane, std::uint32_t word,
                        std::uint32_t lanes) {
  const auto number = static_cast<std::uint32_t>(std::max(pattern.number, 0));
  switch (pattern.kind) {
    case PatternKind::stride:
      return lane * number * word;
    case PatternKind::pairs:
      return lane / 2 * word;
    case PatternKind::rows:
      return lane % std::max(number, 1U) * pattern.span_bytes;
    case PatternKind::blocks:
      return lane * number / lanes * pattern.span_bytes;
    case PatternKind::congestion:
      return lane < number ? lane * pattern.span_bytes : uncongested_offset(pattern, lane, word);
  }
  return 0;
}

constexpr std::array kinds{
    AccessKind{"load-latency", false, true, false},
    AccessKind{"load-throughput", false, false, false},
    AccessKind{"store-throughput", true, false, false},
    AccessKind{"load-model", false, false, true},
    AccessKind{"store-model", true, false, true},
};

}  // namespace

std::vector<std::uint32_t> offsets_of(const Pattern& pattern, int word_bytes, int lanes) {
  std::vector<std::uint32_t> offsets;
  const auto count = static_cast<std::uint32_t>(std::max(lanes, 1));
  offsets.reserve(count);
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    offsets.push_back(offset_of(pattern, lane, static_cast<std::uint32_t>(word_bytes), count));
  }
  return offsets;
}

std::uint64_t footprint_of(const Pattern& pattern, int word_bytes, int lanes) {
  const std::vector<std::uint32_t> offsets = offsets_of(pattern, word_bytes, lanes);
  const std::uint64_t end = std::uint64_t{*std::max_element(offsets.begin(), offsets.end())} +
                            static_cast<std::uint64_t>(word_bytes);
  return (end + pattern_block_bytes - 1) / pattern_block_bytes * pattern_block_bytes;
}

std::vector<int> survey_strides(bool is_whole) {
  constexpr int last = 65;
  constexpr std::array few{0,  1,  2,  3,  4,  5,  6,  7,  8,  12, 15,
                           16, 17, 24, 31, 32, 33, 48, 63, 64, 65};
  if (!is_whole) return {few.begin(), few.end()};
  std::vector<int> strides(last + 1);
  std::iota(strides.begin(), strides.end(), 0);
  return strides;
}

std::vector<Pattern> survey_patterns(const std::vector<int>& strides) {
  std::vector<Pattern> patterns;
  patterns.reserve(strides.size());
  for (const int stride : strides) patterns.push_back({PatternKind::stride, stride});
  patterns.push_back({PatternKind::pairs, 2});
  for (const PatternKind kind : {PatternKind::rows, PatternKind::blocks}) {
    for (const int rows : {2, 4, 8}) patterns.push_back({kind, rows});
  }
  return patterns;
}

std::span<const AccessKind> all_kinds() { return kinds; }

const AccessKind& kind_of(std::string_view series) {
  const auto* const found = std::find_if(
      kinds.begin(), kinds.end(), [&](const AccessKind& kind) { return kind.name == series; });
  if (found == kinds.end()) throw std::out_of_range("no series " + std::string(series));
  return *found;
}

std::uint64_t pattern_memory(const DeviceInfo& device) {
  constexpr std::uint64_t used = padding_bytes + other_local_bytes;
  return device.local_memory.count > used ? device.local_memory.count - used : 0;
}

std::optional<Shape> find_usable(const Point& point) {
  std::optional<Shape> shape = point.failure.empty() ? find_shape<Shape>(point) : std::nullopt;
  const auto is_in = [](int value, int max) { return value > 0 && value <= max; };
  if (!shape || !is_in(shape->lanes, 1024) || !is_in(shape->word_bytes, 16)) return std::nullopt;
  return shape->pattern.banks > 0 ? shape : std::nullopt;
}

std::string build_options(const AccessKind& kind, const Shape& shape) {
  return fmt::format("-DWORD={} -DSTORE={} -DCHAINS={} -DSTEPS={} -DLOCAL_BYTES={}{}",
                     shape.word_bytes, kind.is_store ? 1 : 0,
                     kind.is_chain ? 1 : shape.instructions, kind.is_chain ? chain_steps : 1,
                     shape.local_bytes, kind.is_single ? " -DONCE=1" : "");
}

Bytes memory_of(int lanes) {
  constexpr Bytes page = kibibytes(4);  // a KeptBuffer has at least one page
  const auto rows = static_cast<std::uint64_t>(std::max(lanes, max_instructions));
  const Bytes table{static_cast<std::uint64_t>(lanes) * rows * sizeof(std::uint32_t)};
  const Bytes results{2 * launches_of_model * sizeof(std::uint64_t)};
  return std::max(table, page) + std::max(results, page);
}

std::uint64_t turns_of_filling(std::uint64_t footprint, std::uint64_t items) {
  const std::uint64_t words = (footprint + padding_bytes) / sizeof(std::uint32_t);
  return (words + items - 1) / items;
}

std::uint64_t max_timed(std::uint64_t footprint, std::uint64_t items) {
  return max_iterations - std::min(max_iterations / 2, turns_of_filling(footprint, items));
}

}  // namespace clprobe::banks
