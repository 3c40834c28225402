// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "clprobe/engine.hpp"

namespace clprobe {

std::vector<Program> programs_for(const Probe& probe, const DeviceInfo& device, std::uint64_t seed,
                                  std::span<const Point> points) {
  std::vector<Program> programs;
  if (probe.builds == nullptr) return programs;
  const std::string file = std::string(probe.id) + ".cl";
  for (const Point& point : points) {
    for (KernelVariant& variant : probe.builds(device, seed, point)) {
      Program program{file, std::move(variant)};
      const bool is_known = std::find(programs.begin(), programs.end(), program) != programs.end();
      if (!is_known) programs.push_back(std::move(program));
    }
  }
  return programs;
}

}  // namespace clprobe
