// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/renaming.hpp"

#include <optional>

namespace clprobe::kernel {
namespace {

using prelude::Possibility;

std::optional<prelude::LaneMasks> lane_masks(const prelude::NdRange& range,
                                             const DeviceInfo& device) {
  return prelude::lane_masks(range, static_cast<std::uint64_t>(device.sub_group_size));
}

/// What of the device and the launch speaks against taking lanes away, besides the text.
void look_at_lanes(const prelude::NdRange& range, const DeviceInfo& device,
                   prelude::Verdict& lanes) {
  if (runs_items_in_turn(device) || device.sub_group_size <= 1) {
    lanes = {Possibility::not_present, "a core runs its work-items one after another"};
  } else if (lanes.possibility == Possibility::usable && !lane_masks(range, device)) {
    lanes = {Possibility::refused, "its work-groups do not consist of whole sub-groups"};
  }
}

}  // namespace

prelude::NdRange range_for_prelude(const bundle::NdRange& range) {
  prelude::NdRange same{.dimensions = range.dimensions, .offset = range.offset};
  const bool has_local = range.local != bundle::Sizes{};
  for (std::size_t i = 0; i < same.global.size(); ++i) {
    const bool is_used = i < range.dimensions;
    same.global[i] = is_used ? range.global[i] : 1;
    if (has_local) same.local[i] = is_used ? range.local[i] : 1;
  }
  return same;
}

prelude::Judgement judge_kernel(const bundle::Bundle& bundle, const DeviceInfo& device) {
  prelude::Program program{.sources = bundle.texts};
  for (const bundle::Unit& unit : bundle.launch.program.units) {
    program.options += (program.options.empty() ? "" : " ") + unit.options;
  }
  prelude::Judgement judgement = prelude::judge(program, bundle.launch.kernel);
  look_at_lanes(range_for_prelude(bundle.launch.range), device, judgement.lanes);
  return judgement;
}

prelude::Switches switches_of(const prelude::Judgement& judgement, const prelude::NdRange& range,
                              const DeviceInfo& device) {
  prelude::Switches switches{.barriers = judgement.barriers.possibility == Possibility::usable,
                             .atomics = judgement.atomics.possibility == Possibility::usable,
                             .fences = judgement.fences.possibility == Possibility::usable,
                             .assembly = judgement.has_fence_assembly};
  if (judgement.lanes.possibility == Possibility::usable) {
    switches.lanes = lane_masks(range, device);
  }
  return switches;
}

}  // namespace clprobe::kernel
