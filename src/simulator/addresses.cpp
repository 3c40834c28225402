// SPDX-License-Identifier: Apache-2.0
#include "simulator/addresses.hpp"

#include <algorithm>
#include <bit>

namespace clprobe::simulator {
namespace {

/// The request for `line`, if there is one. Addresses that rise, the usual case, need no search.
LineRequest* find_request(std::vector<LineRequest>& requests, std::uint64_t line,
                          std::uint64_t highest) {
  if (requests.empty() || line > highest) return nullptr;
  if (requests.back().line == line) return &requests.back();
  const auto found = std::find_if(requests.begin(), requests.end(),
                                  [&](const LineRequest& each) { return each.line == line; });
  return found == requests.end() ? nullptr : &*found;
}

}  // namespace

void find_addresses(const Lanes& lanes, const Execution& execution,
                    std::span<const std::vector<std::uint64_t>> tables,
                    std::vector<std::uint64_t>& addresses) {
  const std::uint32_t count =
      lanes.active == 0 ? execution.lanes : std::min(lanes.active, execution.lanes);
  addresses.resize(count);
  const auto step = [](std::int64_t by, std::uint64_t times) {
    return static_cast<std::uint64_t>(by) * times;  // wraps as addresses do
  };
  std::uint64_t address = lanes.base + step(lanes.turn_step, execution.turn) +
                          step(lanes.warp_step, execution.warp / lanes.warp_group);
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
  const int line_shift = std::countr_zero(l1.line_bytes);
  const int sector_shift = std::countr_zero(l1.sector_bytes);
  std::uint64_t highest = 0;
  for (const std::uint64_t address : addresses) {
    const std::uint64_t last = (address + access_bytes - 1) >> sector_shift;
    for (std::uint64_t sector = address >> sector_shift; sector <= last; ++sector) {
      const std::uint64_t line = sector >> (line_shift - sector_shift);
      const std::uint64_t within = sector - (line << (line_shift - sector_shift));
      LineRequest* request = find_request(requests, line, highest);
      if (request == nullptr) request = &requests.emplace_back(LineRequest{.line = line});
      request->sectors |= std::uint32_t{1} << within;
      highest = std::max(highest, line);
    }
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
