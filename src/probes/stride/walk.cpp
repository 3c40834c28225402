// SPDX-License-Identifier: Apache-2.0
#include "probes/stride/walk.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::stride {

Region whole(std::uint64_t bytes, std::uint64_t word_bytes) {
  const std::uint64_t words = bytes / word_bytes;
  return {words, 0, words, words};
}

Region moved(const Shape& shape, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t words = shape.stride * shape.vector;
  return {count * shape.grid * shape.vector, first * words, count * words, shape.run() * words};
}

Walk Walk::over(const Region& region, bool is_cpu) {
  const std::uint64_t items = max_walkers(region.words, is_cpu);
  const std::uint64_t blocks = region.words / region.block;
  const std::uint64_t widest = std::bit_floor(region.block);
  constexpr std::uint64_t side_by_side = 256;
  Walk walk;
  if (is_cpu) {
    walk.y = std::min(blocks, items);
    walk.x = std::min(widest, items / walk.y);
  } else {
    walk.x = std::min(widest, std::max(side_by_side, items / blocks));
    walk.y = std::min(blocks, std::max<std::uint64_t>(1, items / walk.x));
  }
  walk.each = (region.block + walk.x - 1) / walk.x;
  walk.apart = is_cpu ? walk.each : 1;
  walk.step = is_cpu ? 1 : walk.x;
  walk.blocks_each = blocks / walk.y;
  return walk;
}

std::uint64_t max_batches(const DeviceInfo& device, const Shape& shape) {
  return may_cut_loops(device) ? std::min(shape.batches(), max_iterations) : shape.batches();
}

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point) {
  constexpr std::array kernels{"stride_read", "stride_write", "stride_copy", "stride_update"};
  const auto shape = shape_of<Shape>(point);
  const bool is_cpu = runs_items_in_turn(device);
  const std::uint64_t bytes = std::max(shape.buffer_bytes(), shape.shared_buffer_bytes);
  const Walk all = Walk::over(whole(bytes, shape.word_bytes()), is_cpu);
  const std::uint64_t batches = max_batches(device, shape);
  std::vector<KernelLoops> found{{kernels.at(static_cast<std::size_t>(shape.operation)), batches},
                                 {"stride_fill", all.turns()}};
  if (!writes_target(shape.operation)) return found;
  // Of what a launch moves, the part of one batch is the most scattered.
  for (const std::uint64_t count : {std::uint64_t{1}, batches}) {
    const std::uint64_t turns = Walk::over(moved(shape, 0, count * shape.unroll()), is_cpu).turns();
    found.push_back({"stride_check", turns});
    if (shape.operation == Operation::update) found.push_back({"stride_fill", turns});
  }
  return found;
}

}  // namespace clprobe::stride
