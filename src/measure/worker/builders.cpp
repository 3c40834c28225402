// SPDX-License-Identifier: Apache-2.0
#include "measure/worker/builders.hpp"

#include <algorithm>

#include "measure/worker/protocol.hpp"
#include "run/api/json.hpp"

namespace clprobe {

using json::Json;

std::size_t builder_count(const DeviceInfo& device, std::size_t host_cores) {
  constexpr std::size_t most = 8;
  constexpr std::uint64_t memory_each = gibibytes(2).count;
  if (!is_gpu(device)) return 0;
  const std::uint64_t by_memory = device.global_memory.count / memory_each;
  // The other half is for what measures, and for others.
  const std::uint64_t count = std::min<std::uint64_t>(host_cores / 2, by_memory);
  return std::min<std::size_t>(most, count);
}

Builders::Builders(const DeviceInfo& device, const WorkerSettings& settings,
                   const std::vector<Program>& programs, std::size_t count) {
  for (std::size_t k = 0; k < std::min(count, programs.size()); ++k) {
    Json mine = Json::array();
    for (std::size_t i = k; i < programs.size(); i += count) {
      const Program& each = programs[i];
      mine.push_back({{"file", each.file},
                      {"options", each.variant.options},
                      {"preamble", each.variant.preamble}});
    }
    const Json open = reopening(device, settings);
    const Json build = {{"do", "build"}, {"programs", std::move(mine)}};
    try {
      children_.push_back(start_child(settings));
      children_.back()->tell_last(json::one_line(open) + "\n" + json::one_line(build),
                                  settings.timeout, settings.cancelled);
    } catch (const ChildLost&) {
      return;  // what the others do is enough
    }
  }
}

}  // namespace clprobe
