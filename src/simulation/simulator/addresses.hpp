// SPDX-License-Identifier: Apache-2.0
// The lines and bank ways that the lanes of a warp instruction access. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulation/api/machine.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe::simulator {

/// The warp that executes an instruction: its lanes, and what their addresses depend on.
struct Execution {
  std::uint32_t lanes{32};
  std::uint32_t warp{0};
  std::uint64_t turn{0};
};

/// One line that an instruction requests, and the sectors of it.
struct LineRequest {
  std::uint64_t line{0};
  std::uint32_t sectors{0};
};

/// Replaces `addresses` by those of the active lanes.
void find_addresses(const Lanes& lanes, const Execution& execution,
                    std::span<const std::vector<std::uint64_t>> tables,
                    std::vector<std::uint64_t>& addresses);

/// Replaces `requests` by the lines touched, each once, in the order of their first lanes.
void coalesce(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes,
              const FirstLevel& l1, std::vector<LineRequest>& requests);

/// Local memory serves an instruction in `parts`, which with bank conflicts take `ways` in all.
struct Ways {
  std::uint64_t parts{1};
  std::uint64_t ways{1};
};
class LocalBanks {
 public:
  explicit LocalBanks(const LocalMemory& config) : config_(config), words_of_bank_(config.banks) {}

  /// Lanes that want the same word share it (broadcast).
  Ways count(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes);

 private:
  LocalMemory config_;
  std::vector<std::uint64_t> words_{};          // of one part
  std::vector<std::uint64_t> words_of_bank_{};  // of one part
};

}  // namespace clprobe::simulator
