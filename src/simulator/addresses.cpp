// SPDX-License-Identifier: Apache-2.0
#include "simulator/addresses.hpp"

#include <algorithm>
#include <bit>

namespace clprobe::simulator {
namespace {

std::uint32_t active_lanes(const Lanes& lanes, const Execution& execution) {
  return lanes.active == 0 ? execution.lanes : std::min(lanes.active, execution.lanes);
}

/// Of the first lane, without what a table adds.
std::uint64_t first_address(const Lanes& lanes, const Execution& execution) {
  const auto step = [](std::int64_t by, std::uint64_t times) {
    return static_cast<std::uint64_t>(by) * times;  // wraps as addresses do
  };
  return lanes.base + step(lanes.turn_step, execution.turn) +
         step(lanes.warp_step, execution.warp / lanes.warp_group);
}

/// Whether each lane asks for a line of its own, and for the same part of it: then there is nothing
/// to be compared.
bool have_own_lines(const Lanes& lanes, std::uint64_t first, const FirstLevel& l1) {
  // The lanes of a warp do not come round to where they began.
  constexpr std::int64_t max_step = std::int64_t{1} << 40U;
  const auto line_bytes = static_cast<std::int64_t>(l1.line_bytes);
  return lanes.table == Lanes::no_table && lanes.lane_group == 1 && lanes.lane_step > 0 &&
         lanes.lane_step < max_step && lanes.lane_step % line_bytes == 0 &&
         first % l1.line_bytes + lanes.bytes <= l1.line_bytes;
}

/// Adds to the request for `line`, or makes one.
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
  addresses.resize(active_lanes(lanes, execution));
  std::uint64_t address = first_address(lanes, execution);
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
  std::uint64_t place =
      execution.turn * lanes.table_turn + std::uint64_t{execution.warp} * lanes.table_warp;
  for (std::uint64_t& each : addresses) {
    each += table[place % table.size()];
    place += lanes.table_lane;
  }
}

void coalesce(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes,
              const FirstLevel& l1, std::vector<LineRequest>& requests) {
  requests.clear();
  const int sector_shift = std::countr_zero(l1.sector_bytes);
  const int sectors_shift = std::countr_zero(l1.line_bytes) - sector_shift;
  const std::uint64_t within = (std::uint64_t{1} << sectors_shift) - 1;
  std::uint64_t next_line = 0;  // the first one behind all that were asked for
  for (const std::uint64_t address : addresses) {
    const std::uint64_t last = (address + access_bytes - 1) >> sector_shift;
    for (std::uint64_t sector = address >> sector_shift; sector <= last; ++sector) {
      const std::uint64_t line = sector >> sectors_shift;
      const std::uint32_t bit = std::uint32_t{1} << (sector & within);
      if (line < next_line) {
        ask_for(line, bit, requests);
        continue;
      }
      // Addresses that rise, the usual case, need no search.
      requests.push_back({.line = line, .sectors = bit});
      next_line = line + 1;
    }
  }
}

void find_requests(const Lanes& lanes, const Execution& execution,
                   std::span<const std::vector<std::uint64_t>> tables, const FirstLevel& l1,
                   std::vector<std::uint64_t>& addresses, std::vector<LineRequest>& requests) {
  std::uint64_t address = first_address(lanes, execution);
  if (!have_own_lines(lanes, address, l1)) {
    find_addresses(lanes, execution, tables, addresses);
    coalesce(addresses, lanes.bytes, l1, requests);
    return;
  }
  const std::uint64_t within = address % l1.line_bytes;
  const std::uint64_t first_sector = within / l1.sector_bytes;
  const std::uint64_t last_sector = (within + lanes.bytes - 1) / l1.sector_bytes;
  const auto sectors = static_cast<std::uint32_t>((std::uint64_t{2} << last_sector) -
                                                  (std::uint64_t{1} << first_sector));
  const int line_shift = std::countr_zero(l1.line_bytes);
  requests.resize(active_lanes(lanes, execution));
  for (LineRequest& each : requests) {
    each = {.line = address >> line_shift, .sectors = sectors};
    address += static_cast<std::uint64_t>(lanes.lane_step);
  }
}

Ways LocalBanks::count(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes) {
  const std::uint64_t words = (access_bytes + config_.bank_bytes - 1) / config_.bank_bytes;
  const auto together =
      static_cast<std::size_t>(std::max<std::uint64_t>(1, config_.lanes_together / words));
  Ways result{0, 0};
  for (std::size_t first = 0; first < addresses.size(); first += together) {
    asked_.clear();
    const std::size_t end = std::min(addresses.size(), first + together);
    for (std::size_t lane = first; lane < end; ++lane) {
      for (std::uint64_t k = 0; k < words; ++k) {
        asked_.push_back(addresses[lane] / config_.bank_bytes + k);
      }
    }
    ++result.parts;
    result.ways += busiest();
  }
  return result;
}

std::uint64_t LocalBanks::busiest() {
  // Lanes that want the same word share it (broadcast).
  if (!std::is_sorted(asked_.begin(), asked_.end())) std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  std::fill(words_of_bank_.begin(), words_of_bank_.end(), 0);
  std::uint64_t most = 0;
  for (const std::uint64_t word : asked_) {
    most = std::max(most, ++words_of_bank_[word % config_.banks]);
  }
  return most;
}

}  // namespace clprobe::simulator
