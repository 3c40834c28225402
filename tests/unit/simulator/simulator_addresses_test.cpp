// SPDX-License-Identifier: Apache-2.0
// Addresses and bank conflicts beside what the page of traces says of them, word by word.
#include "simulation/simulator/addresses.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "unit/random_traces.hpp"
#include "unit/rounds.hpp"

namespace clprobe::simulator {
namespace {

/// Each part's words by their banks: of one bank they come one after another.
Ways plain_ways(const LocalMemory& local, const std::vector<std::uint64_t>& addresses,
                std::uint64_t bytes) {
  const std::uint64_t words = (bytes + local.bank_bytes - 1) / local.bank_bytes;
  const auto together =
      static_cast<std::size_t>(std::max<std::uint64_t>(local.lanes_together / words, 1));
  Ways all{0, 0};
  for (std::size_t first = 0; first < addresses.size(); first += together) {
    std::map<std::uint64_t, std::set<std::uint64_t>> banks;
    for (std::size_t lane = first; lane < std::min(first + together, addresses.size()); ++lane) {
      for (std::uint64_t k = 0; k < words; ++k) {
        const std::uint64_t word = addresses[lane] / local.bank_bytes + k;
        banks[word % local.banks].insert(word);
      }
    }
    std::size_t busiest = 0;
    for (const auto& [bank, of_bank] : banks) busiest = std::max(busiest, of_bank.size());
    ++all.parts;
    all.ways += busiest;
  }
  return all;
}

TEST_CASE("local memory takes a way for each word of the busiest bank, of any banks and words") {
  Random random(20261128);
  for (int round = 0; round < rounds(4000); ++round) {
    CAPTURE(round);
    const LocalMemory local{.banks = random.chance(0.5) ? 32 : random.from_to(1, 40),
                            .bank_bytes = random.chance(0.7) ? 4U << random.below(2) : 6,
                            .lanes_together = random.from_to(1, 64)};
    LocalBanks banks(local);
    // Twice: what was asked for before is no part of it.
    for (int access = 0; access < 2; ++access) {
      const std::uint64_t step = random.chance(0.5) ? 4 * random.below(70) : 128 * random.below(9);
      const std::uint64_t range = random.chance(0.3) ? 64 : 8192;
      std::vector<std::uint64_t> addresses(random.from_to(1, 64));
      for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
        addresses[lane] = random.chance(0.1) ? random.below(range) : (lane * step + 4096) % range;
      }
      const std::uint64_t bytes = std::uint64_t{1} << random.below(7);
      const Ways expected = plain_ways(local, addresses, bytes);
      const Ways found = banks.count(addresses, bytes);
      REQUIRE(found.parts == expected.parts);
      REQUIRE(found.ways == expected.ways);
    }
  }
}

TEST_CASE("an entry of a table is that of lane, warp and turn, modulo the table's length") {
  Random random(20261129);
  std::vector<std::uint64_t> addresses;
  for (int round = 0; round < rounds(2000); ++round) {
    CAPTURE(round);
    std::vector<std::uint64_t> table(random.from_to(1, 100));
    for (std::uint64_t& each : table) each = random.below(100000);
    const Lanes lanes{.base = random.below(1000),
                      .lane_step = 4,
                      .table = 0,
                      .table_lane = static_cast<std::uint32_t>(random.below(200)),
                      .table_warp = static_cast<std::uint32_t>(random.below(200)),
                      .table_turn = static_cast<std::uint32_t>(random.below(200))};
    const Execution execution{.lanes = static_cast<std::uint32_t>(random.from_to(1, 64)),
                              .warp = static_cast<std::uint32_t>(random.below(40)),
                              .turn = random.below(1000)};
    const std::vector<std::vector<std::uint64_t>> tables{table};
    find_addresses(lanes, execution, tables, addresses);
    REQUIRE(addresses.size() == execution.lanes);
    for (std::uint64_t lane = 0; lane < execution.lanes; ++lane) {
      const std::uint64_t place = lane * lanes.table_lane +
                                  std::uint64_t{execution.warp} * lanes.table_warp +
                                  execution.turn * lanes.table_turn;
      REQUIRE(addresses[lane] == lanes.base + 4 * lane + table[place % table.size()]);
    }
  }
}

}  // namespace
}  // namespace clprobe::simulator
