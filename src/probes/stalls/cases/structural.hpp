// SPDX-License-Identifier: Apache-2.0
// What kernels do that wait for a unit: loads and stores of lanes a line apart, stores, a fence
// behind them, special functions. What of it a point has, which causes go with it, and what it must
// compute. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/stalls/case.hpp"

namespace clprobe::stalls::structural {

/// A block: as many lines as a line has words. 32 lanes that take one word each in 32 turns touch
/// all of its words, whether in a turn they are in one line or in 32.
inline constexpr std::uint32_t block_words = 32 * 32;

/// Of an iteration. All zero: nothing of it.
struct Mix {
  std::uint32_t loads{0};    ///< in units of four loads of a block, at most eight
  std::uint32_t stores{0};   ///< in units of four stores into one, at most eight
  bool is_scattered{false};  ///< lanes are a line apart
  bool stores_go_far{false};
  bool has_fence{false};
  std::uint32_t functions{0};  ///< in units of four chains of six special functions

  [[nodiscard]] constexpr bool is_used() const { return loads + stores + functions != 0; }
};

/// In the order in which they stand among a point's factors.
std::vector<Cause> causes_of(const Mix& mix);

/// How the groups of a point lie in memory.
struct Rows {
  std::uint32_t count{1};  ///< of 32 work-items, all groups together
  std::uint64_t far_bytes{0};
  std::uint64_t first_bytes{0};
};

/// What the kernel is given beside the rest (cl/stalls_structural.clh).
struct Arguments {
  std::uint32_t loads{0};
  std::uint32_t load_mask{0};     ///< of a block's number
  std::uint32_t lane_stride{1};   ///< words from lane to lane
  std::uint32_t turn_stride{32};  ///< words from turn to turn
  std::uint32_t stores{0};
  std::uint32_t row_blocks{1};  ///< that a row stores into, one after another
  std::uint32_t store_mask{0};  ///< of a block's number
  std::uint32_t gate{0};        ///< all ones: no store is made
  bool has_fence{false};
  std::uint32_t functions{0};
  bool is_special{false};

  [[nodiscard]] static Arguments of(const Mix& mix, const Ablated& ablated, const Rows& rows);

  /// Of the buffer that is stored into; 0 without stores.
  [[nodiscard]] std::uint64_t stored_bytes() const;
  /// Of a work-item's loops, in an iteration.
  [[nodiscard]] std::uint64_t turns() const;
  /// By which 24 special functions, or operations instead of them, become a small number.
  [[nodiscard]] float function_scale() const;
};

/// Special functions are replaced by a multiplication with this.
inline constexpr float halving = 0.5F;

/// What an iteration adds to a work-item's sum. `near`: its generator.
std::uint32_t work(const Arguments& arguments, std::uint32_t lane, std::uint32_t& near);

/// A store of a launch: of a lane, an iteration, and a turn in it.
struct Store {
  std::uint32_t row{0};
  std::uint32_t lane{0};
  std::uint32_t iteration{0};
  std::uint32_t turn{0};
};
/// Where it goes to, in words.
std::uint32_t place_of(const Arguments& arguments, const Store& store);
/// What is stored there, whoever does.
std::uint32_t stored_word(std::uint32_t place, std::uint32_t launch);

/// The build option of the kernel with, or without, a fence.
std::string option_of(const Mix& mix, const DeviceInfo& device);
/// Why the device has no fence whose stores all of it sees, as far as its version tells. Empty: it
/// has, or may have.
std::string find_fence_problem(const DeviceInfo& device);

}  // namespace clprobe::stalls::structural
