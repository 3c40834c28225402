// SPDX-License-Identifier: Apache-2.0
#include "probes/inflight/loops.hpp"

#include <algorithm>

#include "probes/inflight/loaded.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::inflight {

std::uint64_t max_rounds(const Shape& shape) {
  const std::uint64_t round = std::max<std::uint64_t>(1, shape.lines_per_round());
  const std::uint64_t room = std::max<std::uint64_t>(2, shape.lines() / round) - 1;
  return std::min(room, max_iterations);
}

std::vector<KernelLoops> loops(const DeviceInfo& device, const Point& point) {
  const auto over = [&](std::uint64_t places) {
    return turns_over(spread_over(device, places), places);
  };
  if (is_loaded(point)) {
    const Shape& chase = LoadedShape::of(point).chase;
    return {{"inflight_fill", over(chase.words())},
            {"inflight_fill_stream", over(chase.words())},
            {"inflight_loaded", std::nullopt}};
  }
  const Shape shape = Shape::of(point);
  std::vector<KernelLoops> all{{"inflight_fill", over(shape.words())}};
  if (shape.pattern.target == "cache") all.push_back({"inflight_touch", over(shape.lines())});
  if (shape.is_block()) {
    all.push_back({"inflight_block", 1 + max_rounds(shape)});
  } else {
    all.push_back({"inflight_chains", max_iterations});
  }
  return all;
}

}  // namespace clprobe::inflight
