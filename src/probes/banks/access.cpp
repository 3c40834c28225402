// SPDX-License-Identifier: Apache-2.0
// The series of `banks` and how each is built. Pure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "probes/banks/access.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::banks {
namespace {

constexpr std::array kinds{
    AccessKind{"load-latency", false, true, false},
    AccessKind{"load-throughput", false, false, false},
    AccessKind{"store-throughput", true, false, false},
    AccessKind{"load-model", false, false, true},
    AccessKind{"store-model", true, false, true},
};

}  // namespace

std::span<const AccessKind> all_kinds() { return kinds; }

const AccessKind& kind_of(std::string_view series) {
  const auto* const found = std::find_if(
      kinds.begin(), kinds.end(), [&](const AccessKind& kind) { return kind.name == series; });
  if (found == kinds.end()) throw std::out_of_range("no series " + std::string(series));
  return *found;
}

std::uint64_t room_of(const DeviceInfo& device) {
  constexpr std::uint64_t used = behind_footprint_bytes + beside_array_bytes;
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
  const auto rows = static_cast<std::uint64_t>(std::max(lanes, max_instructions));
  return {static_cast<std::uint64_t>(lanes) * rows * sizeof(std::uint32_t) +
          2 * launches_of_model * sizeof(std::uint64_t)};
}

std::uint64_t turns_of_filling(std::uint64_t footprint, std::uint64_t items) {
  const std::uint64_t words = (footprint + behind_footprint_bytes) / sizeof(std::uint32_t);
  return (words + items - 1) / items;
}

std::uint64_t max_timed(std::uint64_t footprint, std::uint64_t items) {
  return max_iterations - std::min(max_iterations / 2, turns_of_filling(footprint, items));
}

std::vector<KernelLoops> loops(const DeviceInfo&, const Point& point) {
  if (is_transposition(point)) return {transpose_loops()};
  const auto shape = shape_of<Shape>(point);
  const std::uint64_t footprint = footprint_of(shape.pattern, shape.word_bytes, shape.lanes);
  const std::uint64_t items =
      std::max<std::uint64_t>(1, shape.sub_groups * static_cast<std::uint64_t>(shape.lanes));
  const std::uint64_t filling = turns_of_filling(footprint, items);
  const bool is_single = kind_of(point.series).is_single;
  // A round and its iterations.
  const std::uint64_t timed = is_single ? 2 * rounds_of_model : 1 + max_timed(footprint, items);
  return {{"banks_access", filling + timed}};
}

std::vector<KernelVariant> variants() {
  std::vector<KernelVariant> all;
  Shape shape;
  shape.local_bytes = 4 * std::uint64_t{pattern_block_bytes} + behind_footprint_bytes;
  for (const AccessKind& kind : all_kinds()) {
    for (const int word : {4, 8, 16}) {
      // 3 stands for any number that is no power of two.
      for (const int chains : {1, 3, 16, max_instructions}) {
        if (kind.is_single && chains == 16) continue;
        shape.word_bytes = word;
        shape.instructions = static_cast<std::uint32_t>(chains);
        const std::string options = build_options(kind, shape);
        const bool is_known = std::any_of(
            all.begin(), all.end(), [&](const auto& each) { return each.options == options; });
        if (!is_known) all.push_back({options, ""});
      }
    }
  }
  for (const int word : {4, 8, 16}) {
    for (const int sub_groups : {8, 2}) {
      all.push_back({transpose_options({.word_bytes = word, .sub_groups = sub_groups}), ""});
    }
  }
  // Of these, each changes one line of any.
  all.push_back({all.front().options + large_group(1024), ""});
  all.push_back({all.front().options + std::string(clock_without_asm), ""});
  return all;
}

}  // namespace clprobe::banks
