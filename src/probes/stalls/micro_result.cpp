// SPDX-License-Identifier: Apache-2.0
// The host's side of stalls_mixed in cl/stalls_mixed.clh: what a work-item must compute.
#include <array>

#include "probes/shared/mixed.hpp"
#include "probes/stalls/micro.hpp"

namespace clprobe::stalls {
namespace {

/// The variables of a work-item.
struct Item : NoiseItem {
  std::uint32_t far{0};
  std::array<std::uint32_t, 4> x{};
};

void work(const MicroShape& shape, std::uint32_t number, std::uint32_t i, Item& item) {
  const std::uint32_t lane = number % line_words;
  for (std::uint32_t k = 0; k < shape.far_loads; ++k) {
    if (shape.is_chase) {
      item.far += mixed((item.far >> 8U) & shape.far_mask);
      item.far = item.far * 1664525 + 1013904223;
    } else {
      item.sum += load_lines(item.far, shape.far_mask, 8);
    }
  }
  for (std::uint32_t k = 0; k < shape.near_loads; ++k) {
    item.sum += load_lines(item.near, shape.near_mask, 4);
  }
  for (std::uint32_t k = 0; k < shape.tile_loads; ++k) {
    item.sum += load_tile(lane * shape.tile_stride, item.turned);
  }
  if (shape.is_chain) {
    for (std::uint32_t k = 0; k < 4 * shape.chain_steps; ++k) item.x[0] = step(item.x[0]);
  } else {
    step_all(item.x, shape.chain_steps, step_addend);
  }
  if (((number >> shape.turn_shift) & shape.turn_mask) == (i & shape.turn_mask)) {
    step_all(item.y, shape.turn_steps, step_addend);
  }
}

}  // namespace

std::uint32_t micro_result(const MicroShape& shape, std::uint32_t launch, std::uint32_t iterations,
                           std::uint32_t group, std::uint32_t item) {
  const std::uint32_t row = (group * shape.work_items + item) / line_words;
  Item all{};
  all.far = mixed(row ^ mixed(launch));
  all.near = mixed(all.far);
  all.x = {item, item + 1, item + 2, item + 3};
  all.y = all.x;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    if (item < shape.workers) {
      work(shape, item, i, all);
    } else {
      make_noise(shape.noise, item % line_words, all);
    }
  }
  return mixed(all.far) + mixed(all.sum) + folded(all.x) + folded(all.y);
}

}  // namespace clprobe::stalls
