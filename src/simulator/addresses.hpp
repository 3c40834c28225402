// SPDX-License-Identifier: Apache-2.0
// From the lanes of a warp instruction to lines and bank ways. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clprobe/machine.hpp"
#include "clprobe/trace.hpp"

namespace clprobe::simulator {

/// Who executes: which lanes, and what their addresses depend on.
struct Execution {
  std::uint32_t lanes{32};
  std::uint32_t warp{0};
  std::uint64_t turn{0};
};

/// One line that an instruction asks for, and which of its sectors.
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

/// How often local memory has to serve an instruction: in so many parts, and with conflicts so many
/// ways in all.
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
