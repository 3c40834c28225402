// SPDX-License-Identifier: Apache-2.0
// The lines and bank ways that the lanes of a warp instruction access. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {

/// One execution of an instruction by a warp, with the numbers on which addresses depend.
struct Execution {
  std::uint32_t lanes{32};
  std::uint32_t warp{0};
  std::uint64_t turn{0};
};

/// A requested line with its requested sectors.
struct LineRequest {
  std::uint64_t line{0};
  std::uint32_t sectors{0};
};

/// Replaces the contents of `addresses` by the addresses of the active lanes.
void find_addresses(const Lanes& lanes, const Execution& execution,
                    std::span<const std::vector<std::uint64_t>> tables,
                    std::vector<std::uint64_t>& addresses);

/// Replaces the contents of `requests` by the accessed lines, each once, in the order of the lanes.
void coalesce(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes,
              const FirstLevel& l1, std::vector<LineRequest>& requests);

/// Cost of a local memory access. A part is a group of lanes that is served at once. The ways are
/// the sum over the parts of the words in the part's busiest bank. Without bank conflicts, each
/// part takes one way.
struct Ways {
  std::uint64_t parts{1};
  std::uint64_t ways{1};
};
class LocalBanks {
 public:
  explicit LocalBanks(const LocalMemory& config) : config_(config), words_of_bank_(config.banks) {}

  /// Returns the parts and ways of an access. Lanes that access the same word share it (broadcast).
  Ways count(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes);

 private:
  LocalMemory config_;
  std::vector<std::uint64_t> words_{};          // words that the lanes of one part access
  std::vector<std::uint64_t> words_of_bank_{};  // number of words in each bank for one part
};

}  // namespace clprobe::simulator
