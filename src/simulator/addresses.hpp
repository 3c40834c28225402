// SPDX-License-Identifier: Apache-2.0
// From the lanes of a warp instruction to lines and bank ways. Pure.
#pragma once

#include <array>
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

  friend bool operator==(const LineRequest&, const LineRequest&) = default;
};

/// Replaces `addresses` by those of the active lanes.
void find_addresses(const Lanes& lanes, const Execution& execution,
                    std::span<const std::vector<std::uint64_t>> tables,
                    std::vector<std::uint64_t>& addresses);

/// Replaces `requests` by the lines touched, each once, in the order of their first lanes.
void coalesce(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes,
              const FirstLevel& l1, std::vector<LineRequest>& requests);

/// The same from the lanes; `addresses` gets theirs where they are needed.
void find_requests(const Lanes& lanes, const Execution& execution,
                   std::span<const std::vector<std::uint64_t>> tables, const FirstLevel& l1,
                   std::vector<std::uint64_t>& addresses, std::vector<LineRequest>& requests);

/// How often local memory has to serve an instruction: in so many parts, and with conflicts so many
/// ways in all.
struct Ways {
  std::uint64_t parts{1};
  std::uint64_t ways{1};
};
class LocalBanks {
 public:
  explicit LocalBanks(const LocalMemory& config);

  Ways count(std::span<const std::uint64_t> addresses, std::uint64_t access_bytes);
  /// The same from the lanes of an instruction, which stays where it is; `addresses` gets theirs
  /// where they are needed. Warps that execute one instruction in turn often have the same.
  Ways count(const Lanes& lanes, const Execution& execution,
             std::span<const std::vector<std::uint64_t>> tables,
             std::vector<std::uint64_t>& addresses);

 private:
  /// All that the addresses of an instruction depend on, and what was counted of them.
  struct Counted {
    const Lanes* lanes{nullptr};
    std::uint64_t first{0};
    std::uint64_t entry{0};  ///< of the table
    std::uint32_t active{0};
    Ways ways{};
  };
  /// A word that was asked for.
  struct Slot {
    std::uint64_t word{0};
    std::uint64_t part{0};  ///< in which; one of an earlier part is free
  };

  [[nodiscard]] std::uint64_t word_at(std::uint64_t address) const {
    return are_powers_ ? address >> word_shift_ : address / config_.bank_bytes;
  }
  [[nodiscard]] std::uint64_t bank_of(std::uint64_t word) const {
    return are_powers_ ? word & bank_mask_ : word % config_.banks;
  }
  void make_room(std::uint64_t words);
  void begin_part();
  void ask_for(std::uint64_t word);
  bool is_new(std::uint64_t word);

  LocalMemory config_;
  bool are_powers_;  // banks, and their width: then nothing has to be divided
  int word_shift_;
  std::uint64_t bank_mask_;
  std::vector<std::uint64_t> words_of_bank_;
  std::vector<Slot> slots_;
  int slot_shift_{0};
  std::uint64_t part_{0};
  std::uint64_t busiest_{0};
  std::array<Counted, 61> counted_{};  // a prime number, so that neighbours are apart
};

}  // namespace clprobe::simulator
