// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "clprobe/trace_file.hpp"

namespace clprobe::simulator {

Trace share_of_unit(const TraceFile& file, const Machine& machine) {
  const Trace& whole = file.trace;
  const std::size_t units =
      file.groups_of == GroupsOf::unit ? 1 : static_cast<std::size_t>(machine.core.compute_units);
  Trace share{.tables = whole.tables, .resident = whole.resident, .locks = whole.locks};
  constexpr std::uint32_t unused = ~std::uint32_t{0};
  std::vector<std::uint32_t> places(whole.programs.size(), unused);
  for (std::size_t g = 0; g < whole.groups.size(); g += units) {
    Group& group = share.groups.emplace_back(whole.groups[g]);
    for (WarpWork& warp : group.warps) {
      std::uint32_t& place = places.at(warp.program);
      if (place == unused) {
        place = static_cast<std::uint32_t>(share.programs.size());
        share.programs.push_back(whole.programs[warp.program]);
      }
      warp.program = place;
    }
  }
  return share;
}

}  // namespace clprobe::simulator
