// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulator/addresses.hpp"

#include <algorithm>
#include <bit>

namespace clprobe::simulator {
namespace {

/// Adds a sector to the request for `line`. If no request for the line exists, appends one.
void ask_for(std::uint64_t line, std::uint32_t sector, std::vector<LineRequest>& requests) {
  const auto found = requests.back().line == line
                         ? requests.end() - 1
                         : std::find_if(requests.begin(), requests.end(),
                                        [&](const auto& each) { return each.line == line; });
  if (found == requests.end()) {
    requests.push_back({.line = line, .sectors = sector});
  } else {
    found->sectors |= sector;
  }
}

}  // namespace

void find_addresses(const Lanes& lanes, const Execution& execution,
                    std::span<const std::vector<std::uint64_t>> tables,
                    std::vector<std::uint64_t>& addresses) {
  const auto distance = [](std::int64_t step, std::uint64_t times) {
    return static_cast<std::uint64_t>(step) * times;  // wraps around like addresses
  };
  addresses.resize(lanes.active == 0 ? execution.lanes : std::min(lanes.active, execution.lanes));
  std::uint64_t address = lanes.base + distance(lanes.turn_step, execution.turn) +
                          distance(lanes.warp_step, execution.warp / lanes.warp_group);
  std::uint32_t in_group = 0;
  for (std::uint64_t& each : addresses) {
    each = address;
    if (++in_group == lanes.lane_group) {
      in_group = 0;
      address += static_cast<std::uint64_t>(lanes.lane_step);
    }
  }
  if (lanes.table == Lanes::no_table) return;
  const std::vector<std::uint64_t>& table = tables[lanes.table];
  // The remainder is updated from lane to lane, because a division per lane would take longer than
  // the rest of the function.
  const std::uint64_t size = table.size();
  const std::uint64_t step = lanes.table_lane % size;
  std::uint64_t place =
      (execution.turn * lanes.table_turn + std::uint64_t{execution.warp} * lanes.table_warp) % size;
  for (std::uint64_t& each : addresses) {
    each += table[place];
    place += step;
    if (place >= size) place -= size;
  }
}

void coalesce(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes,
              const FirstLevel& l1, std::vector<LineRequest>& requests) {
  requests.clear();
  const int sector_shift = std::countr_zero(l1.sector_bytes);
  const int sectors_shift = std::countr_zero(l1.line_bytes) - sector_shift;
  const std::uint64_t within = (std::uint64_t{1} << sectors_shift) - 1;
  std::uint64_t next_line = 0;  // first line after the highest requested line
  for (const std::uint64_t address : addresses) {
    const std::uint64_t last = (address + access_bytes - 1) >> sector_shift;
    for (std::uint64_t sector = address >> sector_shift; sector <= last; ++sector) {
      const std::uint64_t line = sector >> sectors_shift;
      const std::uint32_t bit = std::uint32_t{1} << (sector & within);
      if (line < next_line) {
        ask_for(line, bit, requests);
        continue;
      }
      // Lines above all requested lines, as in rising addresses, need no search.
      requests.push_back({.line = line, .sectors = bit});
      next_line = line + 1;
    }
  }
}

Ways LocalBanks::count(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes) {
  const std::uint64_t words = (access_bytes + config_.bank_bytes - 1) / config_.bank_bytes;
  const auto together =
      static_cast<std::size_t>(std::max<std::uint64_t>(1, config_.lanes_together / words));
  Ways result{0, 0};
  for (std::size_t first = 0; first < addresses.size(); first += together) {
    words_.clear();
    for (const std::uint64_t address :
         addresses.subspan(first, std::min(together, addresses.size() - first))) {
      for (std::uint64_t k = 0; k < words; ++k) words_.push_back(address / config_.bank_bytes + k);
    }
    std::sort(words_.begin(), words_.end());
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    std::fill(words_of_bank_.begin(), words_of_bank_.end(), 0);
    for (const std::uint64_t word : words_) ++words_of_bank_[word % config_.banks];
    ++result.parts;
    result.ways += *std::max_element(words_of_bank_.begin(), words_of_bank_.end());
  }
  return result;
}

}  // namespace clprobe::simulator
