// SPDX-License-Identifier: Apache-2.0
#include "simulator/addresses.hpp"

#include <algorithm>
#include <bit>
#include <functional>

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

/// Of a table's entries that of the first lane; 0 without a table.
std::uint64_t first_entry(const Lanes& lanes, const Execution& execution,
                          std::span<const std::vector<std::uint64_t>> tables) {
  if (lanes.table == Lanes::no_table) return 0;
  return (execution.turn * lanes.table_turn + std::uint64_t{execution.warp} * lanes.table_warp) %
         tables[lanes.table].size();
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
  // To divide for each lane would take longer than all the rest.
  const std::uint64_t size = table.size();
  const std::uint64_t step = lanes.table_lane % size;
  std::uint64_t place = first_entry(lanes, execution, tables);
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

LocalBanks::LocalBanks(const LocalMemory& config)
    : config_(config),
      are_powers_(std::has_single_bit(config.banks) && std::has_single_bit(config.bank_bytes)),
      word_shift_(std::countr_zero(config.bank_bytes)),
      bank_mask_(config.banks - 1),
      words_of_bank_(config.banks),
      slots_(1) {}

Ways LocalBanks::count(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes) {
  const std::uint64_t words = (access_bytes + config_.bank_bytes - 1) / config_.bank_bytes;
  const auto together =
      static_cast<std::size_t>(std::max<std::uint64_t>(1, config_.lanes_together / words));
  make_room(std::min(addresses.size(), together) * words);
  Ways result{0, 0};
  for (std::size_t first = 0; first < addresses.size(); first += together) {
    begin_part();
    for (const std::uint64_t address :
         addresses.subspan(first, std::min(together, addresses.size() - first))) {
      const std::uint64_t word = word_at(address);
      for (std::uint64_t k = 0; k < words; ++k) ask_for(word + k);
    }
    ++result.parts;
    result.ways += busiest_;
  }
  return result;
}

Ways LocalBanks::count(const Lanes& lanes, const Execution& execution,
                       std::span<const std::vector<std::uint64_t>> tables,
                       std::vector<std::uint64_t>& addresses) {
  Counted& counted = counted_[std::hash<const Lanes*>{}(&lanes) % counted_.size()];
  const std::uint64_t first = first_address(lanes, execution);
  const std::uint64_t entry = first_entry(lanes, execution, tables);
  const std::uint32_t active = active_lanes(lanes, execution);
  const bool is_same = counted.lanes == &lanes && counted.first == first &&
                       counted.entry == entry && counted.active == active;
  if (!is_same) {
    find_addresses(lanes, execution, tables, addresses);
    counted = {&lanes, first, entry, active, count(addresses, lanes.bytes)};
  }
  return counted.ways;
}

void LocalBanks::make_room(std::uint64_t words) {
  // Twice as many, so that most find theirs at once.
  if (slots_.size() >= 2 * words) return;
  slots_.assign(std::bit_ceil(2 * words), {});
  slot_shift_ = 64 - std::countr_zero(slots_.size());
}

void LocalBanks::begin_part() {
  std::fill(words_of_bank_.begin(), words_of_bank_.end(), 0);
  ++part_;
  busiest_ = 0;
}

void LocalBanks::ask_for(std::uint64_t word) {
  // Lanes that want the same word share it (broadcast).
  if (!is_new(word)) return;
  busiest_ = std::max(busiest_, ++words_of_bank_[bank_of(word)]);
}

/// By a hash, since words that are all in one bank are the usual question here.
bool LocalBanks::is_new(std::uint64_t word) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  for (std::size_t i = (word * golden) >> slot_shift_;; i = (i + 1) & (slots_.size() - 1)) {
    Slot& slot = slots_[i];
    if (slot.part != part_) {
      slot = {.word = word, .part = part_};
      return true;
    }
    if (slot.word == word) return false;
  }
}

}  // namespace clprobe::simulator
