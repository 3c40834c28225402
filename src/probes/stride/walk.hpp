// SPDX-License-Identifier: Apache-2.0
// Who fills and checks which words of the buffers, and how long all loops of cl/stride.cl are.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/stride/shape.hpp"

namespace clprobe::stride {

/// Words of a buffer: blocks of them, `blocks_apart` from each other.
struct Region {
  std::uint64_t words;
  std::uint64_t first;
  std::uint64_t block;
  std::uint64_t blocks_apart;
};

/// All of a buffer.
Region whole(std::uint64_t bytes, std::uint64_t word_bytes);

/// What the work-items of a launch move that do their elements first .. first + count - 1: where
/// the pattern is one block for each piece of the grid that is as long as the stride.
Region moved(const Shape& shape, std::uint64_t first, std::uint64_t count);

/// Work-items that walk over a region: `x` side by side in a block, `y` over the blocks; a CPU's
/// walk through pieces, a GPU's side by side.
struct Walk {
  std::uint64_t x{1};
  std::uint64_t y{1};
  // As the kernels take them.
  std::uint64_t apart{1};
  std::uint64_t step{1};
  std::uint64_t each{1};
  std::uint64_t blocks_each{1};

  [[nodiscard]] static Walk over(const Region& region, bool is_cpu);
  [[nodiscard]] std::uint64_t walkers() const { return x * y; }
  [[nodiscard]] std::uint64_t turns() const { return blocks_each * (1 + each); }
};

/// Batches of a launch, at most.
std::uint64_t max_batches(const DeviceInfo& device, const Shape& shape);

/// Of every kernel that a point's launches run.
std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point);

}  // namespace clprobe::stride
