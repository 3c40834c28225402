// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "clprobe/trace_file.hpp"

namespace clprobe::simulator {
namespace {

/// The locks of a launch are those that its units want; nobody else holds them once all are there.
void share_locks(std::vector<Lock>& locks, bool are_all_there) {
  for (Lock& lock : locks) {
    lock.is_shared = true;
    if (are_all_there) lock.held_elsewhere = {};
  }
}

}  // namespace

std::uint64_t max_units_of(const TraceFile& file, const Machine& machine) {
  return file.groups_of == GroupsOf::unit ? 1 : machine.core.compute_units;
}

Trace share_of_units(const TraceFile& file, const Machine& machine, std::uint64_t units) {
  const Trace& whole = file.trace;
  const std::uint64_t dealt_to = std::max(units, max_units_of(file, machine));
  Trace share{.tables = whole.tables, .resident = whole.resident, .locks = whole.locks};
  if (units > 1) share_locks(share.locks, units == dealt_to);
  constexpr std::uint32_t unused = ~std::uint32_t{0};
  std::vector<std::uint32_t> places(whole.programs.size(), unused);
  for (std::size_t g = 0; g < whole.groups.size(); ++g) {
    if (g % dealt_to >= units) continue;
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
