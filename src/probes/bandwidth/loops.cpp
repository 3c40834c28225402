// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include "probes/bandwidth/launch.hpp"
#include "probes/bandwidth/loops.hpp"
#include "probes/bandwidth/shape.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::bandwidth {

std::uint64_t max_iterations_of(const DeviceInfo& device, const Shape& shape) {
  const std::uint64_t most =
      may_cut_loops(device) ? max_iterations : std::numeric_limits<std::uint32_t>::max();
  return std::max<std::uint64_t>(1, most / shape.step());
}

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& point) {
  return {{build_options(shape_of<Shape>(point)), ""}};
}

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point) {
  constexpr std::array kernels{"bandwidth_read",   "bandwidth_write", "bandwidth_copy",
                               "bandwidth_update", "bandwidth_local", "bandwidth_image"};
  const auto shape = shape_of<Shape>(point);
  const auto turns_of = [&](std::uint64_t bytes) {
    const std::uint64_t words = bytes / sizeof(std::uint32_t);
    return turns_over(spread_over(device, words), words);
  };
  std::uint64_t turns = max_iterations_of(device, shape) * shape.step();
  if (shape.operation == Operation::local) {
    // The copying of the set into local memory goes before.
    turns += shape.blocks * shape.unroll() + 1;
  }
  std::vector<KernelLoops> found{{kernels.at(static_cast<std::size_t>(shape.operation)), turns}};
  if (shape.operation != Operation::write) {
    found.push_back(
        {"bandwidth_fill", turns_of(std::max(shape.buffer_bytes, shape.touched_bytes()))});
  }
  if (writes(shape.operation)) {
    found.push_back({"bandwidth_check", turns_of(shape.touched_bytes())});
  }
  return found;
}

}  // namespace clprobe::bandwidth
